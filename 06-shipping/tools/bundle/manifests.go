package bundle

import (
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Manifests are the objects of an installation, in the order of their file.
type Manifests []*unstructured.Unstructured

// ReadManifests reads the objects of a file in YAML.
func ReadManifests(file io.Reader) (Manifests, error) {
	var all Manifests
	for documents := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading object %d: %w", len(all)+1, err)
		case object.GetKind() == "" || object.GetName() == "":
			return nil, fmt.Errorf("reading object %d: it has no kind or no name; give manifests, as dist.sh prints them", len(all)+1)
		}
		all = append(all, object)
	}
}

// ofKind are the objects of one kind.
func (m Manifests) ofKind(kind string) Manifests {
	var some Manifests
	for _, object := range m {
		if object.GetKind() == kind {
			some = append(some, object)
		}
	}
	return some
}

// named is the one object of this kind and name.
func (m Manifests) named(kind, name string) (*unstructured.Unstructured, error) {
	for _, object := range m.ofKind(kind) {
		if object.GetName() == name {
			return object, nil
		}
	}
	return nil, fmt.Errorf("the %s %s is not among the manifests; add it", kind, name)
}

// deployment is the one Deployment of an operator.
func (m Manifests) deployment() (appsv1.Deployment, error) {
	some := m.ofKind("Deployment")
	if len(some) != 1 {
		return appsv1.Deployment{}, fmt.Errorf("there are %d Deployments; give the manifests of one operator", len(some))
	}
	deployment, err := convert[appsv1.Deployment](some[0])
	if err == nil && deployment.Spec.Template.Spec.ServiceAccountName == "" {
		err = fmt.Errorf("the Deployment %s has no service account; name the one that its roles are bound to", deployment.Name)
	}
	return deployment, err
}

// inOneNamespace checks that OLM, which chooses the namespace, can install all of it.
func (m Manifests) inOneNamespace(namespace string) error {
	for _, object := range m {
		if in := object.GetNamespace(); in != "" && in != namespace {
			return fmt.Errorf("the %s %s is in the namespace %s, and the Deployment in %s; OLM installs a bundle in one namespace", object.GetKind(), object.GetName(), in, namespace)
		}
	}
	return nil
}

// convert makes a typed object. A field that the type does not have is an error.
func convert[T any](object *unstructured.Unstructured) (T, error) {
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
		return typed, fmt.Errorf("reading the %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return typed, nil
}
