package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

const (
	// manager is the name under which the operator owns fields.
	manager = "lighthouse"
	// noVersion is older than all objects. An apply with it creates the object, or fails with a
	// conflict if there is one.
	noVersion = "1"
)

// apply makes the Deployment and the Service of a Lighthouse what it wants, and returns the
// Deployment. To apply what is there already would change nothing, but it would be a request each
// time. So it compares, and with the fields that are its own: where another has changed one of them,
// that field is no longer ours; and the server's defaults never were.
func (r *reconciler) apply(ctx context.Context, light *v1alpha1.Lighthouse) (*appsv1.Deployment, error) {
	deployment, service := &appsv1.Deployment{}, &corev1.Service{}
	version, err := r.versionOf(ctx, light, deployment)
	if err != nil {
		return nil, err
	}
	is, err := appsv1ac.ExtractDeployment(deployment, manager)
	if err != nil {
		return nil, err
	}
	if want := wantDeployment(light); !equality.Semantic.DeepEqual(is, want) {
		if err := r.Apply(ctx, want.WithResourceVersion(version), client.FieldOwner(manager), client.ForceOwnership); err != nil {
			return nil, fmt.Errorf("applying the Deployment: %w", err)
		}
		deployment.Generation = *want.Generation // Apply has put the answer there
		ctrl.LoggerFrom(ctx).Info("applied the Deployment")
	}
	if version, err = r.versionOf(ctx, light, service); err != nil {
		return nil, err
	}
	isService, err := corev1ac.ExtractService(service, manager)
	if err != nil {
		return nil, err
	}
	if want := wantService(light); !equality.Semantic.DeepEqual(isService, want) {
		if err := r.Apply(ctx, want.WithResourceVersion(version), client.FieldOwner(manager), client.ForceOwnership); err != nil {
			return nil, fmt.Errorf("applying the Service: %w", err)
		}
		ctrl.LoggerFrom(ctx).Info("applied the Service")
	}
	return deployment, nil
}

// versionOf reads what the Lighthouse owns, and returns its resource version, with which an apply
// fails if the cache is stale.
func (r *reconciler) versionOf(ctx context.Context, light *v1alpha1.Lighthouse, owned client.Object) (string, error) {
	err := r.Get(ctx, client.ObjectKeyFromObject(light), owned)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return "", err
	case err != nil:
		owned.SetNamespace(light.Namespace)
		owned.SetName(light.Name)
		return noVersion, nil
	case !metav1.IsControlledBy(owned, light):
		kind, err := r.GroupVersionKindFor(owned)
		if err != nil {
			return "", err
		}
		if isOfNamesake(owned, light) {
			return "", &problem{reason: "NameTaken", message: fmt.Sprintf("the %s of the last Lighthouse of this name isn't gone yet", kind.Kind), again: time.Second}
		}
		return "", stalled("NameTaken", fmt.Sprintf("the %s %s belongs to somebody else; delete it, or give the Lighthouse another name", kind.Kind, light.Name))
	}
	return owned.GetResourceVersion(), nil
}

// isOfNamesake reports whether an object belongs to another Lighthouse of this name. That one is gone, and the garbage
// collector is on its way.
func isOfNamesake(owned client.Object, light *v1alpha1.Lighthouse) bool {
	owner := metav1.GetControllerOf(owned)
	return owner != nil && owner.Kind == "Lighthouse" && owner.Name == light.Name && strings.HasPrefix(owner.APIVersion, v1alpha1.GroupVersion.Group+"/")
}

// wantDeployment returns the fields of a Deployment that a Lighthouse wants. All else is up to others.
func wantDeployment(light *v1alpha1.Lighthouse) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"lighthouse": light.Name}
	return appsv1ac.Deployment(light.Name, light.Namespace).
		WithOwnerReferences(owner(light)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(light.Spec.Lamps).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(lamp(light.Spec.Flash))))
}

// wantService gives each lamp a name in DNS.
func wantService(light *v1alpha1.Lighthouse) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(light.Name, light.Namespace).
		WithOwnerReferences(owner(light)).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithSelector(map[string]string{"lighthouse": light.Name}))
}

func owner(light *v1alpha1.Lighthouse) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).WithKind("Lighthouse").
		WithName(light.Name).WithUID(light.UID).
		WithController(true).WithBlockOwnerDeletion(true)
}

// lamp is a pod that prints a flash every second.
func lamp(flash string) *corev1ac.PodSpecApplyConfiguration {
	return corev1ac.PodSpec().
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(65534). // nobody
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(corev1ac.Container().
			WithName("lamp").
			WithImage("busybox").
			WithCommand("sh", "-c", `trap exit TERM; while echo "$FLASH"; do sleep 1 & wait; done`).
			WithEnv(corev1ac.EnvVar().WithName("FLASH").WithValue(flash)).
			WithSecurityContext(corev1ac.SecurityContext().
				WithAllowPrivilegeEscalation(false).
				WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))))
}
