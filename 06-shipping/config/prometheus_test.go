package config_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/cert"

	"example.com/hacking-a-controller/06-shipping/internal/scrape"
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

// Prometheus scrapes every Service with our labels, of any user.
func TestPrometheusShowsAnImpostorNothing(t *testing.T) {
	const name = "cnat-manager.cnat-system.svc"
	ours := newServer(t, name)
	secrets := map[string]string{"cnat-metrics-token/token": "reader", "cnat-metrics-cert/ca.crt": ours.ca}
	client, err := scrape.Client(serviceMonitor(t, build(t, "overlays/monitored")), func(name, key string) string {
		return secrets[name+"/"+key]
	})
	require.NoError(t, err)

	response, err := client.Get(ours.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, []string{"Bearer reader"}, ours.shown, "a token for the metrics, and not Prometheus's own")

	impostor := newServer(t, name)
	_, err = client.Get(impostor.URL)
	require.ErrorContains(t, err, "certificate signed by unknown authority")
	assert.Empty(t, impostor.shown)
}

// tokenServer remembers which tokens it was shown.
type tokenServer struct {
	*httptest.Server
	ca    string
	shown []string
}

func newServer(t *testing.T, name string) *tokenServer {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	require.NoError(t, err)
	s := &tokenServer{ca: string(certificate)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.shown = append(s.shown, r.Header.Get("Authorization"))
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func serviceMonitor(t *testing.T, all objects) *unstructured.Unstructured {
	t.Helper()
	found := ofKind(all, "ServiceMonitor")
	require.Len(t, found, 1)
	return found[0]
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
	o, err := options(t, all)
	require.NoError(t, err)
	pod := deploymentOf(t, all).Spec.Template.Spec
	assert.Equal(t, []corev1.VolumeMount{{Name: "metrics-cert", MountPath: o.MetricsCertDir, ReadOnly: true}}, pod.Containers[0].VolumeMounts)
	require.Len(t, pod.Volumes, 1)
	assert.Equal(t, "cnat-metrics-cert", pod.Volumes[0].Secret.SecretName)
	assert.Equal(t, *pod.SecurityContext.RunAsGroup, *pod.SecurityContext.FSGroup)

	o, err = options(t, build(t, "default"))
	require.NoError(t, err)
	assert.Empty(t, o.MetricsCertDir, "it makes one itself")
}
