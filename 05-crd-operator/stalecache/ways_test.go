// Package stalecache compares ways to live with a cache that is stale. Its lesson is README.md.
package stalecache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// errNotYet is what a way returns when the cache isn't as new as what this program wrote.
var errNotYet = errors.New("the cache doesn't show our own write yet")

// A way is how a program reads a ConfigMap on which it is going to act.
type way struct {
	name  string
	wrote func(*corev1.ConfigMap) // is called after each write of this program
	read  func(context.Context, client.ObjectKey) (*corev1.ConfigMap, error)
}

func ways(p, own *program) []way {
	return []way{theCache(p), aLiveRead(p), aWriteThatAsks(p), aMutationCache(p), expectations(p), ownWrites(own)}
}

func theCache(p *program) way {
	return way{name: "the cache", read: func(ctx context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
		return get(ctx, p.GetClient(), key)
	}}
}

func aLiveRead(p *program) way {
	return way{name: "a live read", read: func(ctx context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
		return get(ctx, p.GetAPIReader(), key)
	}}
}

// aWriteThatAsks writes what the cache has, unchanged. If that isn't the newest, the answer is 409.
func aWriteThatAsks(p *program) way {
	return way{name: "a write that asks", read: func(ctx context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
		seen, err := get(ctx, p.GetClient(), key)
		if err != nil {
			return nil, err
		}
		return seen, p.GetClient().Update(ctx, seen)
	}}
}

// aMutationCache puts the answers to our writes on top of the cache.
func aMutationCache(p *program) way {
	mutations := toolscache.NewIntegerResourceVersionMutationCacheWithOptions(logr.Discard(), p.store,
		toolscache.MutationCacheOptions{IncludeAdds: true})
	return way{
		name:  "a mutation cache",
		wrote: func(written *corev1.ConfigMap) { mutations.Mutation(written.DeepCopy()) },
		read: func(_ context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
			object, exists, err := mutations.GetByKey(key.String())
			if err != nil || !exists {
				return nil, err
			}
			return object.(*corev1.ConfigMap), nil
		},
	}
}

// expectations don't reconcile until the cache is as new as our last write, as the consistency
// store of the StatefulSet controller.
func expectations(p *program) way {
	expected := map[client.ObjectKey]string{}
	return way{
		name: "expectations",
		wrote: func(written *corev1.ConfigMap) {
			expected[client.ObjectKeyFromObject(written)] = written.ResourceVersion
		},
		read: func(ctx context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
			if want := expected[key]; want != "" {
				older, err := resourceversion.CompareResourceVersion(p.store.LastStoreSyncResourceVersion(), want)
				if err != nil {
					return nil, err
				}
				if older < 0 {
					return nil, errNotYet // the queue tries again
				}
				delete(expected, key)
			}
			return get(ctx, p.GetClient(), key)
		},
	}
}

// ownWrites is a client with EnableReadYourWritesConsistency.
func ownWrites(p *program) way {
	w := theCache(p)
	w.name = "read your writes"
	return w
}

func get(ctx context.Context, from client.Reader, key client.ObjectKey) (*corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{}
	return object, from.Get(ctx, key, object)
}

// What each way makes of a write that its cache doesn't show: one of its own, and one of somebody else.
func TestWithAFrozenCache(t *testing.T) {
	want := map[string][2]string{
		"the cache":         {"old", "old"},
		"a live read":       {"new", "new"},
		"a write that asks": {"refused", "refused"},
		"a mutation cache":  {"new", "old"},
		"expectations":      {"waits", "old"},
		"read your writes":  {"waits", "old"},
	}
	cluster := testcluster.Shared(t)
	p, own := startProgram(t, cluster.Config, false), startProgram(t, cluster.Config, true)
	somebody, err := client.New(cluster.Config, client.Options{})
	require.NoError(t, err)
	fmt.Printf("%-20s %-10s %s\n", "while it's frozen", "own write", "somebody else's")
	for _, w := range ways(p, own) {
		program := p
		if w.name == "read your writes" {
			program = own
		}
		var got [2]string
		for i, writer := range []client.Client{program.GetClient(), somebody} {
			object := program.create(t)
			program.watches.Shut()
			object.Data = map[string]string{"tide": "high"}
			require.NoError(t, writer.Update(t.Context(), object))
			if w.wrote != nil && i == 0 {
				w.wrote(object)
			}
			stallTimeout := testcluster.TestTimeout
			if want[w.name][i] == "waits" {
				stallTimeout = 200 * time.Millisecond // it won't come, however long we wait
			}
			ctx, cancel := context.WithTimeout(t.Context(), stallTimeout)
			read, err := w.read(ctx, client.ObjectKeyFromObject(object))
			cancel()
			got[i] = outcome(read, err, object)
			program.watches.Open()
		}
		assert.Equal(t, want[w.name], got, w.name)
		fmt.Printf("%-20s %-10s %s\n", w.name, got[0], got[1])
	}
}

// outcome is what a read has come to, after this write.
func outcome(read *corev1.ConfigMap, err error, written *corev1.ConfigMap) string {
	switch {
	case errors.Is(err, errNotYet), errors.Is(err, context.DeadlineExceeded):
		return "waits"
	case apierrors.IsConflict(err):
		return "refused"
	case err != nil:
		return err.Error()
	case read == nil || read.ResourceVersion != written.ResourceVersion:
		return "old"
	default:
		return "new"
	}
}

// BenchmarkWays measures a read right after a write of one's own, of which the cache hears in its own time.
func BenchmarkWays(b *testing.B) {
	count := 200
	if n, err := strconv.Atoi(os.Getenv("WAYS")); err == nil {
		count = n
	}
	for b.Loop() {
		cluster := testcluster.Shared(b)
		p, own := startProgram(b, cluster.Config, false), startProgram(b, cluster.Config, true)
		fmt.Printf("%-20s %6s %10s %10s %10s %10s\n", "a read after a write", "old", "tried", "requests", "p50", "p99")
		for _, w := range ways(p, own) {
			program := p
			if w.name == "read your writes" {
				program = own
			}
			m := program.measure(b, w, count)
			fmt.Printf("%-20s %6d %10.2f %10.2f %7.2f ms %7.2f ms\n", w.name, m.old,
				float64(m.tried)/float64(count), float64(m.requests)/float64(count), m.ms(50), m.ms(99))
		}
	}
}

type measured struct {
	old, tried, requests int
	took                 []time.Duration
}

func (m measured) ms(p int) float64 { return m.took[(len(m.took)-1)*p/100].Seconds() * 1000 }

// measure writes, and reads until there is something to act on.
func (p *program) measure(b *testing.B, w way, count int) (m measured) {
	b.Helper()
	object := p.create(b)
	for i := range count {
		object.Data = map[string]string{"tide": strconv.Itoa(i)}
		require.NoError(b, p.GetClient().Update(b.Context(), object))
		if w.wrote != nil {
			w.wrote(object)
		}
		start, before := time.Now(), p.requests.Load()
		for done := false; !done; m.tried++ {
			read, err := w.read(b.Context(), client.ObjectKeyFromObject(object))
			switch got := outcome(read, err, object); got {
			case "old":
				m.old++
				done = true
			case "new":
				done = true
			default:
				require.Contains(b, []string{"waits", "refused"}, got)
				// luck: the queue would be in between
				time.Sleep(time.Millisecond) //nolint:forbidigo // a benchmark, in place of the queue
			}
		}
		m.took = append(m.took, time.Since(start))
		m.requests += int(p.requests.Load() - before)
	}
	slices.Sort(m.took)
	return m
}

func (p *program) create(t testing.TB) *corev1.ConfigMap {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, GenerateName: "tide-"}}
	require.NoError(t, p.GetClient().Create(t.Context(), object))
	require.Eventually(t, func() bool {
		_, exists, err := p.store.GetByKey(client.ObjectKeyFromObject(object).String())
		return err == nil && exists
	}, testcluster.TestTimeout, time.Millisecond, "the cache to show it")
	return object
}
