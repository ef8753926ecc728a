package config_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/testcluster"
)

const pause = 50 * time.Millisecond

// server is a real API server.
type server struct {
	client.Client // the administrator's
	config        *rest.Config
	warnings      testcluster.Output // what kubectl would print, and nobody would read
}

// startServer starts an API server that knows our kinds, and those of the operator
// of Prometheus, and has the namespaces that an installation needs.
func startServer(t *testing.T) *server {
	t.Helper()
	cluster := testcluster.Start(t)
	cluster.InstallCRDs(t, testcluster.ReadCRDs(t, "crd", "testdata/crd")...)
	s := &server{config: rest.CopyConfig(cluster.Config)}
	s.config.WarningHandler = rest.NewWarningWriter(&s.warnings, rest.WarningWriterOptions{})
	s.Client = s.newClient(t, s.config)

	namespaces := of[corev1.Namespace](t, build(t, "manager"), "Namespace")
	require.Len(t, namespaces, 1)
	assert.Equal(t, "restricted", namespaces[0].Labels["pod-security.kubernetes.io/enforce"])
	for _, name := range []string{"team-a", "team-b"} {
		namespaces = append(namespaces, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, n := range namespaces {
		require.NoError(t, s.Create(t.Context(), &n))
	}
	return s
}

func (s *server) newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	return c
}

// apply is `kubectl apply --server-side`, with more options such as client.DryRunAll.
func (s *server) apply(t *testing.T, o *unstructured.Unstructured, options ...client.PatchOption) error {
	t.Helper()
	o = o.DeepCopy()
	if namespaced, err := s.IsObjectNamespaced(o); err == nil && namespaced && o.GetNamespace() == "" {
		o.SetNamespace("default") // as kubectl does
	}
	content, err := o.MarshalJSON()
	require.NoError(t, err)
	return s.Patch(t.Context(), o, client.RawPatch(types.ApplyPatchType, content),
		append(options, client.FieldOwner("test"), client.ForceOwnership, client.FieldValidation(metav1.FieldValidationStrict))...)
}

// dryRunPod asks for what the controllers would be told that create the pods.
func (s *server) dryRunPod(ctx context.Context, d appsv1.Deployment) error {
	pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
	pod.Namespace, pod.Name = d.Namespace, d.Name
	return s.Create(ctx, pod, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

func TestAnAPIServerTakesEverythingWithoutAWarning(t *testing.T) {
	s := startServer(t)
	for _, folder := range kustomizations(t) {
		all := build(t, folder)
		for _, o := range all {
			require.NoError(t, s.apply(t, o, client.DryRunAll), "%s: %s %s", folder, o.GetKind(), o.GetName())
		}
		for _, d := range of[appsv1.Deployment](t, all, "Deployment") {
			require.NoError(t, s.dryRunPod(t.Context(), d), folder)
		}
		assert.Empty(t, s.warnings.Take(), folder)
	}

	t.Run("and refuses what is broken", func(t *testing.T) { testRefusals(t, s) })
}

// Each of these is as good as what is shipped, but for one field.
func testRefusals(t *testing.T, s *server) {
	set := func(value any, path ...string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) {
			require.NoError(t, unstructured.SetNestedField(o.Object, value, path...))
		}
	}
	for name, tc := range map[string]struct {
		folder, kind string
		spoil        func(*unstructured.Unstructured)
		want         string
	}{
		"a field that there is not":       {"default", "Deployment", set(int64(2), "spec", "replica"), "field not declared in schema"},
		"a name that is none":             {"default", "Service", set("Cnat", "metadata", "name"), "Invalid value"},
		"a port that is none":             {"network-policy", "NetworkPolicy", set([]any{map[string]any{"ports": []any{map[string]any{"port": int64(0)}}}}, "spec", "egress"), "must be between 1 and 65535"},
		"an At without a command":         {"samples", "At", set("", "spec", "command"), "say what to run"},
		"an interval that is none":        {"overlays/monitored", "ServiceMonitor", set([]any{map[string]any{"port": "metrics", "interval": "often"}}, "spec", "endpoints"), "endpoints[0].interval"},
		"a rule that waits for no time":   {"overlays/monitored", "PrometheusRule", set([]any{map[string]any{"name": "x", "rules": []any{map[string]any{"alert": "X", "expr": "up", "for": "long"}}}}, "spec", "groups"), "rules[0].for"},
		"a budget with an unknown policy": {"overlays/ha", "PodDisruptionBudget", set("Sometimes", "spec", "unhealthyPodEvictionPolicy"), "unhealthyPodEvictionPolicy"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range build(t, tc.folder) {
				if o.GetKind() == tc.kind {
					tc.spoil(o)
					require.ErrorContains(t, s.apply(t, o, client.DryRunAll), tc.want)
					return
				}
			}
			assert.Fail(t, "there is no "+tc.kind)
		})
	}

	t.Run("a pod that may gain privileges", func(t *testing.T) {
		all := build(t, "default")
		edit(t, all, "Deployment", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true)
		})
		for _, o := range all {
			require.NoError(t, s.apply(t, o, client.DryRunAll))
		}
		assert.Contains(t, s.warnings.Take(), "allowPrivilegeEscalation != false", "about the Deployment, which would make no pod")
		require.ErrorContains(t, s.dryRunPod(t.Context(), deploymentOf(t, all)), "allowPrivilegeEscalation != false")
	})
}
