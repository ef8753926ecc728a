package config_test

import (
	"slices"
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

func TestAnAPIServerTakesEverythingWithoutAWarning(t *testing.T) {
	s := startServer(t)
	folders := kustomizations(t)
	require.Subset(t, folders, append(slices.Clone(installations), "crd", "admission", "rbac", "manager", "samples", "metrics-reader", "network-policy"))
	for _, folder := range folders {
		all := build(t, folder)
		for _, o := range all {
			require.NoError(t, s.apply(t, o, client.DryRunAll), "%s: %s %s", folder, o.GetKind(), o.GetName())
		}
		for _, d := range of[appsv1.Deployment](t, all, "Deployment") {
			pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec} // as the controllers create it
			pod.Namespace, pod.Name = d.Namespace, d.Name
			require.NoError(t, s.Create(t.Context(), pod, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)), folder)
		}
		assert.Empty(t, s.warnings.Take(), folder)
	}
}
