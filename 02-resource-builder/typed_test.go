package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

var (
	inDemo  = metav1.ObjectMeta{Name: "web", Namespace: "demo"}
	leaving = metav1.ObjectMeta{Name: "web", Namespace: "demo", DeletionTimestamp: &metav1.Time{Time: time.Unix(0, 0)}}
)

func TestDescribeTyped(t *testing.T) {
	node := func(status corev1.ConditionStatus, unschedulable bool) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "ship"},
			Spec:       corev1.NodeSpec{Unschedulable: unschedulable},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
				{Type: corev1.NodeReady, Status: status},
			}},
		}
	}
	pod := func(meta metav1.ObjectMeta, phase corev1.PodPhase, ready ...bool) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: meta, Status: corev1.PodStatus{Phase: phase}}
		for _, r := range ready {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{})
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Ready: r})
		}
		return pod
	}
	deployment := func(replicas *int32, available int32, status corev1.ConditionStatus) *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: inDemo,
			Spec:       appsv1.DeploymentSpec{Replicas: replicas},
			Status: appsv1.DeploymentStatus{AvailableReplicas: available, Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentAvailable, Status: status},
			}},
		}
	}

	tests := map[string]struct {
		object runtime.Object
		want   string
	}{
		"a namespace": {
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}},
			"default is currently Active",
		},
		"a namespace that is being deleted": {
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}},
			"old is currently Terminating",
		},
		"a node that is ready":                {node(corev1.ConditionTrue, false), "ship is currently Ready"},
		"a node that is not ready":            {node(corev1.ConditionFalse, false), "ship is currently NotReady"},
		"a node that is silent":               {node(corev1.ConditionUnknown, false), "ship is currently NotReady"},
		"a node that has not yet reported":    {&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ship"}}, "ship is currently NotReady"},
		"a cordoned node":                     {node(corev1.ConditionTrue, true), "ship is currently Ready, and takes no new pods"},
		"a pod that runs":                     {pod(inDemo, corev1.PodRunning, true, false), "web in namespace demo is currently Running, with 1 of 2 containers ready"},
		"a pod that is being deleted":         {pod(leaving, corev1.PodRunning, true), "web in namespace demo is currently Terminating, with 1 of 1 containers ready"},
		"a pod that nobody has scheduled":     {&corev1.Pod{ObjectMeta: inDemo, Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}, "web in namespace demo is currently Pending, with 0 of 1 containers ready"},
		"a deployment":                        {deployment(new(int32(3)), 3, corev1.ConditionTrue), "web in namespace demo is currently Available, with 3 of 3 replicas"},
		"a deployment with too few":           {deployment(new(int32(3)), 1, corev1.ConditionFalse), "web in namespace demo is currently Unavailable, with 1 of 3 replicas"},
		"a deployment without a number":       {deployment(nil, 1, corev1.ConditionTrue), "web in namespace demo is currently Available, with 1 of 1 replicas"},
		"a deployment that is scaled to 0":    {deployment(new(int32(0)), 0, corev1.ConditionTrue), "web in namespace demo is currently Available, with 0 of 0 replicas"},
		"a deployment without a status":       {&appsv1.Deployment{ObjectMeta: inDemo}, "web in namespace demo is currently Unavailable, with 0 of 1 replicas"},
		"a field that is newer than the type": {withField(t, pod(inDemo, corev1.PodRunning, true), "new", "status", "invented"), "web in namespace demo is currently Running, with 1 of 1 containers ready"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := describeTyped(toUnstructured(t, tc.object))
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestDescribeTypedRefuses(t *testing.T) {
	tests := map[string]struct {
		object runtime.Object
		want   string
	}{
		"a kind with a Go type, but no sentence":     {&corev1.ConfigMap{ObjectMeta: inDemo}, "unknown type ConfigMap: there is no sentence for it; print its generic fields with --unstructured"},
		"a custom resource":                          {boat("gull"), "unknown type Boat: there is no sentence for it; print its generic fields with --unstructured"},
		"another group's kind of a name that we use": {object("example.com/v1", "Deployment", "web"), "unknown type Deployment: there is no sentence for it; print its generic fields with --unstructured"},
		"fields that are not of the type":            {withField(t, &appsv1.Deployment{ObjectMeta: inDemo}, "three", "spec", "replicas"), "reading web in namespace demo as apps/v1, Kind=Deployment: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := describeTyped(toUnstructured(t, tc.object))
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

// toUnstructured is what the Builder does with an answer of the server.
func toUnstructured(t *testing.T, object runtime.Object) *unstructured.Unstructured {
	t.Helper()
	if u, ok := object.(*unstructured.Unstructured); ok {
		return u
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	require.NoError(t, err)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(kinds[0])
	return u
}

func withField(t *testing.T, object runtime.Object, value any, path ...string) *unstructured.Unstructured {
	t.Helper()
	u := toUnstructured(t, object)
	require.NoError(t, unstructured.SetNestedField(u.Object, value, path...))
	return u
}

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName(name)
	u.SetNamespace("default")
	return u
}

func boat(name string) *unstructured.Unstructured {
	return object("harbour.example.com/v1", "Boat", name)
}
