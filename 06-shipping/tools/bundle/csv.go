package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
)

// Release is a version, and the one that it replaces, if it is not the first.
type Release struct{ Version, Replaces string }

// name is that of a version of the operator: cnat.v0.6.0.
func (b *Base) name(release string) string { return b.Package + "." + release }

// strategy is how OLM installs an operator.
type strategy struct {
	Strategy string `json:"strategy"`
	Spec     struct {
		ClusterPermissions []permissions `json:"clusterPermissions,omitempty"`
		Permissions        []permissions `json:"permissions,omitempty"`
		Deployments        []deployment  `json:"deployments"`
	} `json:"spec"`
}

type deployment struct {
	Name  string            `json:"name"`
	Label map[string]string `json:"label,omitempty"`
	Spec  any               `json:"spec"`
}

func newCSV(base *Base, manifests Manifests, d appsv1.Deployment, grants []grant, release Release) (*unstructured.Unstructured, error) {
	semver, err := version.ParseSemantic(release.Version)
	if err != nil {
		return nil, fmt.Errorf("--version %q is not a version; write one such as v0.6.0", release.Version)
	}
	csv := base.csv()
	csv.SetName(base.name(release.Version))
	spec := csv.Object["spec"].(map[string]any)
	spec["version"] = semver.String()
	if release.Replaces != "" {
		spec["replaces"] = base.name(release.Replaces)
	}
	spec["icon"] = []any{map[string]any{"base64data": base.icon, "mediatype": base.Icon.MediaType}}
	spec["relatedImages"] = []any{map[string]any{"name": d.Spec.Template.Spec.Containers[0].Name, "image": image(d)}}

	install := strategy{Strategy: "deployment"}
	account := d.Spec.Template.Spec.ServiceAccountName
	install.Spec.ClusterPermissions = permissionsOf(account, grants, "ClusterRoleBinding")
	install.Spec.Permissions = permissionsOf(account, grants, "RoleBinding")
	// As it stands in the manifests: a typed one has fields that they do not.
	install.Spec.Deployments = []deployment{{d.Name, d.Labels, manifests.ofKind("Deployment")[0].Object["spec"]}}
	spec["install"] = install

	if err := describe(spec, manifests.ofKind("CustomResourceDefinition")); err != nil {
		return nil, err
	}
	if err := annotate(csv, base, manifests, image(d)); err != nil {
		return nil, err
	}
	return plain(csv)
}

// describe adds kind and version to the description that the base has of each CRD.
func describe(spec map[string]any, crds Manifests) error {
	described, _, err := unstructured.NestedSlice(spec, "customresourcedefinitions", "owned")
	if err != nil {
		return fmt.Errorf("reading the descriptions of the CRDs: %w", err)
	}
	var owned []any
	for _, crd := range crds {
		i := slices.IndexFunc(described, func(d any) bool {
			crdDescription, ok := d.(map[string]any)
			return ok && crdDescription["name"] == crd.GetName()
		})
		if i < 0 {
			return fmt.Errorf("the base does not describe the CRD %s; add it to customresourcedefinitions.owned", crd.GetName())
		}
		kinds, err := served(crd)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			one := maps.Clone(described[i].(map[string]any))
			one["kind"], one["version"] = kind.Kind, kind.Version
			owned = append(owned, one)
		}
	}
	return unstructured.SetNestedField(spec, any(owned), "customresourcedefinitions", "owned")
}

// annotate adds what user interfaces show: the samples, the image, and the namespace that the
// manifests have.
func annotate(csv *unstructured.Unstructured, base *Base, manifests Manifests, image string) error {
	var samples []any
	for _, sample := range base.samples {
		samples = append(samples, sample.Object)
	}
	examples, err := json.MarshalIndent(samples, "", "  ")
	if err != nil {
		return err
	}
	annotations := map[string]string{"alm-examples": string(examples), "containerImage": image}
	maps.Copy(annotations, csv.GetAnnotations())
	for _, namespace := range manifests.ofKind("Namespace") {
		template, err := json.Marshal(namespace.Object)
		if err != nil {
			return err
		}
		annotations["operatorframework.io/suggested-namespace-template"] = string(template)
	}
	csv.SetAnnotations(annotations)
	return nil
}

// plain is the object as a reader of its JSON has it.
func plain(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	content, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding the ClusterServiceVersion: %w", err)
	}
	read := &unstructured.Unstructured{}
	return read, json.Unmarshal(content, &read.Object)
}
