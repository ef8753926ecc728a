package bench

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/settings"
	"example.com/hacking-a-controller/testcluster"
)

const (
	drift     = "drift" // the namespace
	drifts    = 100     // of each kind
	atTheMost = time.Second
)

// BenchmarkDrift lets somebody else change the ConfigMap of settings, again and
// again. How long does it stay so?
func BenchmarkDrift(b *testing.B) {
	for b.Loop() {
		s := newStage(b)
		s.createNamespace(b, drift)
		testcluster.Run(b, func(ctx context.Context) error {
			return settings.Run(klog.NewContext(ctx, logr.Discard()), s.Config, settings.Options{Namespace: drift})
		})
		configMaps := s.Client.CoreV1().ConfigMaps(drift)
		w, err := configMaps.Watch(b.Context(), metav1.ListOptions{FieldSelector: "metadata.name=settings"})
		require.NoError(b, err)
		b.Cleanup(w.Stop)
		seen := w.ResultChan()
		s.createLayer(b)
		awaitGood(b, seen)

		fmt.Printf("\n%d times each\n%-24s %8s %8s %8s\n", drifts, "what others do", "p50", "p99", "longest")
		for _, change := range []struct{ name, patch string }{
			{"delete it", ""},
			{"change a value", `{"data":{"colour":"red"}}`},
			{"add a key", `{"data":{"more":"red"}}`},
			{"take the label off", `{"metadata":{"labels":null}}`},
			{"take the owners off", `{"metadata":{"ownerReferences":null}}`},
			{"make it immutable", `{"data":{"colour":"red"},"immutable":true}`},
		} {
			var took []time.Duration
			for range drifts {
				start := time.Now()
				require.NoError(b, disturb(b.Context(), configMaps, change.patch))
				require.False(b, isGood(<-seen), "it was disturbed")
				awaitGood(b, seen)
				took = append(took, time.Since(start))
			}
			longest := percentile(took, 100)
			fmt.Printf("%-24s %8s %8s %8s\n", change.name, percentile(took, 50), percentile(took, 99), longest)
			assert.LessOrEqual(b, longest, atTheMost, change.name)
		}
	}
}

func (s *stage) createLayer(b *testing.B) {
	b.Helper()
	scheme := runtime.NewScheme()
	require.NoError(b, v1alpha1.AddToScheme(scheme))
	layers, err := client.New(s.Config, client.Options{Scheme: scheme})
	require.NoError(b, err)
	require.NoError(b, layers.Create(b.Context(), &v1alpha1.SettingsLayer{
		ObjectMeta: metav1.ObjectMeta{Namespace: drift, Name: "defaults"},
		Spec:       v1alpha1.SettingsLayerSpec{Data: good},
	}))
}

// disturb deletes the ConfigMap, or patches it.
func disturb(ctx context.Context, client typedcorev1.ConfigMapInterface, patch string) error {
	if patch == "" {
		return client.Delete(ctx, "settings", metav1.DeleteOptions{})
	}
	_, err := client.Patch(ctx, "settings", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

var good = map[string]string{"colour": "green"}

// isGood reports whether the ConfigMap is as the layer wants it.
func isGood(e watch.Event) bool {
	is, ok := e.Object.(*corev1.ConfigMap)
	return ok && e.Type != watch.Deleted && maps.Equal(is.Data, good) && is.Immutable == nil &&
		len(is.Labels) == 1 && len(is.OwnerReferences) == 1
}

func awaitGood(b *testing.B, seen <-chan watch.Event) {
	b.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case e, ok := <-seen:
			require.True(b, ok, "the watch has ended")
			if isGood(e) {
				return
			}
		case <-timeout:
			require.Fail(b, "the ConfigMap is not restored after a minute")
		}
	}
}
