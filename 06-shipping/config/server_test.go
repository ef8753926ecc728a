package config_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"example.com/hacking-a-controller/testcluster"
)

const pause = 50 * time.Millisecond

// server is a real API server.
type server struct {
	config   *rest.Config
	dynamic  dynamic.Interface
	client   kubernetes.Interface
	mapper   meta.RESTMapper
	warnings *warnings
}

// warnings are what kubectl would print, and nobody would read.
type warnings struct {
	mu   sync.Mutex
	text []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

// take returns the warnings since it was last called.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.text
	w.text = nil
	return text
}

// startServer starts an API server that knows our kinds, and those of the operator
// of Prometheus, and has the namespaces that an installation needs.
func startServer(t *testing.T) *server {
	t.Helper()
	cluster := testcluster.Start(t)
	cluster.InstallCRDs(t, testcluster.ReadCRDs(t, "crd", "testdata/crd")...)
	config := rest.CopyConfig(cluster.Config)
	s := &server{config: config, warnings: &warnings{}}
	config.WarningHandler = s.warnings
	s.dynamic, s.client = dynamic.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	resources, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(config))
	require.NoError(t, err)
	s.mapper = restmapper.NewDiscoveryRESTMapper(resources)

	namespaces := of[corev1.Namespace](t, build(t, "manager"), "Namespace")
	require.Len(t, namespaces, 1)
	assert.Equal(t, "restricted", namespaces[0].Labels["pod-security.kubernetes.io/enforce"])
	for _, name := range []string{"team-a", "team-b"} {
		namespaces = append(namespaces, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, n := range namespaces {
		_, err := s.client.CoreV1().Namespaces().Create(t.Context(), &n, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return s
}

// dryRun is `kubectl apply --server-side --dry-run=server`.
func (s *server) dryRun(ctx context.Context, o *unstructured.Unstructured) error {
	return s.apply(ctx, o, metav1.DryRunAll)
}

// apply is `kubectl apply --server-side`.
func (s *server) apply(ctx context.Context, o *unstructured.Unstructured, dryRun ...string) error {
	mapping, err := s.mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	content, err := json.Marshal(o)
	if err != nil {
		return err
	}
	var resource dynamic.ResourceInterface = s.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = "default" // as kubectl does
		}
		resource = s.dynamic.Resource(mapping.Resource).Namespace(namespace)
	}
	_, err = resource.Patch(ctx, o.GetName(), types.ApplyPatchType, content, metav1.PatchOptions{
		DryRun: dryRun, FieldManager: "test", Force: new(true), FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

// dryRunPod asks for what the controllers would be told that create the pods.
func (s *server) dryRunPod(ctx context.Context, d appsv1.Deployment) error {
	pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
	pod.Name = d.Name
	_, err := s.client.CoreV1().Pods(d.Namespace).Create(ctx, pod, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

func TestAnAPIServerTakesEverythingWithoutAWarning(t *testing.T) {
	s := startServer(t)
	for _, folder := range kustomizations(t) {
		all := build(t, folder)
		for _, o := range all {
			require.NoError(t, s.dryRun(t.Context(), o), "%s: %s %s", folder, o.GetKind(), o.GetName())
		}
		for _, d := range of[appsv1.Deployment](t, all, "Deployment") {
			require.NoError(t, s.dryRunPod(t.Context(), d), folder)
		}
		assert.Empty(t, s.warnings.take(), folder)
	}

	t.Run("and refuses what is broken", func(t *testing.T) { testRefusals(t, s) })
	t.Run("and has roles for people to add to its own", func(t *testing.T) { testAggregation(t, s) })
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
					require.ErrorContains(t, s.dryRun(t.Context(), o), tc.want)
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
			require.NoError(t, s.dryRun(t.Context(), o))
		}
		assert.Contains(t, s.warnings.take()[0], "allowPrivilegeEscalation != false", "about the Deployment, which would make no pod")
		require.ErrorContains(t, s.dryRunPod(t.Context(), deploymentOf(t, all)), "allowPrivilegeEscalation != false")
	})
}
