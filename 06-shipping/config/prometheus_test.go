package config_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The name of the Service is the label job of all its metrics, which the alerts and
// the dashboard ask for.
func TestPrometheusFindsTheMetrics(t *testing.T) {
	all := build(t, "overlays/monitored")
	monitors, services := ofKind(all, "ServiceMonitor"), of[corev1.Service](t, all, "Service")
	require.Len(t, monitors, 1)
	require.Len(t, services, 1)
	selector, _, err := unstructured.NestedStringMap(monitors[0].Object, "spec", "selector", "matchLabels")
	require.NoError(t, err)
	endpoints, _, err := unstructured.NestedSlice(monitors[0].Object, "spec", "endpoints")
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	assert.Equal(t, "cnat-manager", services[0].Name)
	assert.Equal(t, monitors[0].GetNamespace(), services[0].Namespace)
	assert.Subset(t, services[0].Labels, selector)
	assert.Equal(t, services[0].Spec.Ports[0].Name, endpoints[0].(map[string]any)["port"])
}

// The token is that of an account that may get /metrics, and nothing else.
func TestTheReaderOfMetricsMayReadMetricsOnly(t *testing.T) {
	all := build(t, "overlays/monitored")
	secrets := of[corev1.Secret](t, all, "Secret")
	require.Len(t, secrets, 1)
	assert.Equal(t, "cnat-metrics-token", secrets[0].Name)
	assert.Equal(t, corev1.SecretTypeServiceAccountToken, secrets[0].Type)
	assert.Equal(t, "cnat-metrics-reader", secrets[0].Annotations[corev1.ServiceAccountNameKey])

	reader := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "cnat-system", Name: "cnat-metrics-reader"}
	var roles []rbacv1.RoleRef
	for _, b := range of[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding") {
		if slices.Contains(b.Subjects, reader) {
			roles = append(roles, b.RoleRef)
		}
	}
	for _, b := range of[rbacv1.RoleBinding](t, all, "RoleBinding") {
		assert.NotContains(t, b.Subjects, reader)
	}
	require.Equal(t, []rbacv1.RoleRef{{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cnat-metrics-reader"}}, roles)
	var may []right
	for _, r := range rights(t, all) {
		if r.role == "cnat-metrics-reader" {
			may = append(may, r)
		}
	}
	assert.Equal(t, []right{{role: "cnat-metrics-reader", resource: "/metrics", verb: "get"}}, may)
}

// The manager has the certificate that Prometheus verifies, and can read it.
func TestTheMonitoredManagerHasItsCertificate(t *testing.T) {
	all := build(t, "overlays/monitored")
	o := options(t, all)
	pod := deploymentOf(t, all).Spec.Template.Spec
	assert.Equal(t, []corev1.VolumeMount{{Name: "metrics-cert", MountPath: o.MetricsCertDir, ReadOnly: true}}, pod.Containers[0].VolumeMounts)
	require.Len(t, pod.Volumes, 1)
	assert.Equal(t, "cnat-metrics-cert", pod.Volumes[0].Secret.SecretName)
	assert.Equal(t, *pod.SecurityContext.RunAsGroup, *pod.SecurityContext.FSGroup)

	assert.Empty(t, options(t, build(t, "default")).MetricsCertDir, "it makes one itself")
}
