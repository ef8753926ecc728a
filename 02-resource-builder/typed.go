package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// describeTyped makes the object a Go type and describes what it is doing.
func describeTyped(object *unstructured.Unstructured) (string, error) {
	typed, err := toTyped(object)
	if err != nil {
		return "", err
	}
	switch object := typed.(type) {
	case *corev1.Namespace:
		return sentence(object, phaseOf(object, string(object.Status.Phase))), nil
	case *corev1.Node:
		return sentence(object, nodeState(object)), nil
	case *corev1.Pod:
		return sentence(object, podState(object)), nil
	case *appsv1.Deployment:
		return sentence(object, deploymentState(object)), nil
	default:
		kind := object.GetObjectKind().GroupVersionKind().Kind
		return "", fmt.Errorf("unknown type %s: there is no sentence for it; print its generic fields with --unstructured", kind)
	}
}

// toTyped turns an unstructured object, a map, into the Go type that the scheme has for its kind. Without one, it
// returns the object as it is.
//
// With WithScheme in place of Unstructured, the Builder decodes into Go types itself, as in first/. But then one kind
// that the scheme doesn't know, such as a custom resource, fails the whole list. Here every object arrives.
func toTyped(object *unstructured.Unstructured) (runtime.Object, error) {
	kind := object.GroupVersionKind()
	typed, err := scheme.Scheme.ConvertToVersion(object, kind.GroupVersion())
	switch {
	case runtime.IsNotRegisteredError(err):
		return object, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s as %s: %w; try --unstructured", nameOf(object), kind, err)
	}
	return typed, nil
}

// sentence is the form that all kinds have in common.
func sentence(object metav1.Object, state string) string {
	return nameOf(object) + " is currently " + state
}

func nameOf(object metav1.Object) string {
	if namespace := object.GetNamespace(); namespace != "" {
		return object.GetName() + " in namespace " + namespace
	}
	return object.GetName()
}

// phaseOf corrects the phase of an object that is being deleted.
func phaseOf(object metav1.Object, phase string) string {
	if object.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}

func nodeState(node *corev1.Node) string {
	state := "NotReady"
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			state = "Ready"
		}
	}
	if node.Spec.Unschedulable {
		state += ", and takes no new pods"
	}
	return state
}

func podState(pod *corev1.Pod) string {
	ready := 0
	for _, status := range pod.Status.ContainerStatuses {
		if status.Ready {
			ready++
		}
	}
	return fmt.Sprintf("%s, with %d of %d containers ready",
		phaseOf(pod, string(pod.Status.Phase)), ready, len(pod.Spec.Containers))
}

func deploymentState(deployment *appsv1.Deployment) string {
	state := "Unavailable"
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable && condition.Status == corev1.ConditionTrue {
			state = "Available"
		}
	}
	desired := int32(1) // the default of the API
	if deployment.Spec.Replicas != nil {
		desired = *deployment.Spec.Replicas
	}
	return fmt.Sprintf("%s, with %d of %d replicas", state, deployment.Status.AvailableReplicas, desired)
}
