package bundle

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Bundle is one version of an operator, as OLM installs it.
type Bundle struct {
	Package, Channel string
	// CSV is the ClusterServiceVersion, and Objects are the files beside it.
	CSV     *unstructured.Unstructured
	Objects Manifests
	// LeftOut are the objects that OLM cannot install.
	LeftOut Manifests
}

// supported are the kinds that OLM takes in a bundle, without those of OpenShift's console.
// The list stands in its documents, and in supported_resources.go of operator-registry.
var supported = []string{
	"ClusterRole", "ClusterRoleBinding", "ConfigMap", "CustomResourceDefinition", "NetworkPolicy",
	"PodDisruptionBudget", "PodMonitor", "PriorityClass", "PrometheusRule", "Role", "RoleBinding",
	"Secret", "Service", "ServiceAccount", "ServiceMonitor", "VerticalPodAutoscaler",
}

// New makes a bundle of the manifests of an installation.
func New(base *Base, manifests Manifests, release Release) (*Bundle, error) {
	deployment, err := manifests.deployment()
	if err != nil {
		return nil, err
	}
	if err := manifests.inOneNamespace(deployment.Namespace); err != nil {
		return nil, err
	}
	account := deployment.Spec.Template.Spec.ServiceAccountName
	grants, err := manifests.grants(account)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Package: base.Package, Channel: base.Channel}
	if err := b.sort(base, manifests, account, grants); err != nil {
		return nil, err
	}
	b.CSV, err = newCSV(base, manifests, deployment, grants, release)
	return b, err
}

// sort puts each object where it belongs: into the CSV, beside it, or nowhere.
func (b *Bundle) sort(base *Base, manifests Manifests, account string, grants []grant) error {
	for _, object := range manifests {
		kind, name := object.GetKind(), object.GetName()
		inCSV := kind == "Deployment" || kind == "Namespace" || kind == "ServiceAccount" && name == account ||
			slices.ContainsFunc(grants, func(g grant) bool { return object == g.binding || object == g.role })
		switch {
		case inCSV:
		case slices.Contains(supported, kind):
			object = object.DeepCopy()
			object.SetNamespace("") // OLM chooses it
			b.Objects = append(b.Objects, object)
		case base.LeftOut[kind] != "":
			b.LeftOut = append(b.LeftOut, object)
		default:
			return fmt.Errorf("OLM installs no %s, such as %s; remove it, or write under leftOut why the operator works without it", kind, name)
		}
	}
	return nil
}

// image is what the first container of a Deployment runs.
func image(deployment appsv1.Deployment) string {
	return deployment.Spec.Template.Spec.Containers[0].Image
}
