package config_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// monitored are the Services that the ServiceMonitor finds, each with the port that
// is asked.
func monitored(t *testing.T, monitoring, installed objects) []string {
	t.Helper()
	var found []string
	for _, o := range monitoring {
		if o.GetKind() != "ServiceMonitor" {
			continue
		}
		selector, _, err := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
		require.NoError(t, err)
		endpoints, _, err := unstructured.NestedSlice(o.Object, "spec", "endpoints")
		require.NoError(t, err)
		for _, s := range of[corev1.Service](t, installed, "Service") {
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
	assert.Equal(t, []string{"cnat-manager"}, monitored(t, build(t, "prometheus"), build(t, "default")))

	for _, spoil := range []func(*corev1.Service){
		func(s *corev1.Service) { s.Labels["app.kubernetes.io/component"] = "other" },
		func(s *corev1.Service) { s.Spec.Ports[0].Name = "https" },
		func(s *corev1.Service) { s.Namespace = "other" },
	} {
		installed := build(t, "default")
		edit(t, installed, "Service", spoil)
		assert.Empty(t, monitored(t, build(t, "prometheus"), installed))
	}
}
