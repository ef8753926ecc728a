package config_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// monitored are the Services that the ServiceMonitor finds, each with the port that
// is asked.
func monitored(t *testing.T, all objects) []string {
	t.Helper()
	var found []string
	for _, o := range ofKind(all, "ServiceMonitor") {
		selector, _, err := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
		require.NoError(t, err)
		endpoints, _, err := unstructured.NestedSlice(o.Object, "spec", "endpoints")
		require.NoError(t, err)
		for _, s := range of[corev1.Service](t, all, "Service") {
			for _, endpoint := range endpoints {
				port := endpoint.(map[string]any)["port"]
				has := slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == port })
				if has && s.Namespace == o.GetNamespace() && labels.SelectorFromSet(selector).Matches(labels.Set(s.Labels)) {
					found = append(found, s.Name)
				}
			}
		}
	}
	return found
}

// The name of the Service is the label job of all its metrics, which the alerts and
// the dashboard ask for.
func TestPrometheusFindsTheMetrics(t *testing.T) {
	assert.Equal(t, []string{"cnat-manager"}, monitored(t, build(t, "overlays/monitored")))

	for _, spoil := range []func(*corev1.Service){
		func(s *corev1.Service) { s.Labels["app.kubernetes.io/component"] = "other" },
		func(s *corev1.Service) { s.Spec.Ports[0].Name = "https" },
		func(s *corev1.Service) { s.Namespace = "other" },
	} {
		all := build(t, "overlays/monitored")
		edit(t, all, "Service", spoil)
		assert.Empty(t, monitored(t, all))
	}
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
