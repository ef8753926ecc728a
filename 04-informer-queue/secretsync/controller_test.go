package secretsync

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// TestAForeignSecretIsTriedAgain needs a minute to pass, so time is fake, and
// so is the server.
func TestAForeignSecretIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := whole("secretsync", "db", func(s *corev1.Secret) { s.Annotations = map[string]string{testRules.annotation: ""} })
		client := fake.NewClientset(aTarget(), source, whole("harbour", "db"))
		// A fake server sends all secrets to a watch, whatever it selects.
		client.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
			return action.GetNamespace() == metav1.NamespaceAll, watch.NewFake(), nil
		})
		e := &env{rules: testRules}
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		done := make(chan error, 1)
		go func() { done <- run(ctx, client, e, 1, 0) }()
		defer func() {
			cancel()
			require.NoError(t, <-done)
		}()

		time.Sleep(10 * time.Second) //nolint:forbidigo // fake time
		assert.Equal(t, "left alone harbour/db: it was not made by secretsync\n", e.out.String())
		require.NoError(t, client.CoreV1().Secrets("harbour").Delete(t.Context(), "db", metav1.DeleteOptions{}))
		time.Sleep(again / 2) //nolint:forbidigo // fake time
		_, err := client.CoreV1().Secrets("harbour").Get(t.Context(), "db", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "no watch reports it")
		time.Sleep(again) //nolint:forbidigo // fake time
		made, err := client.CoreV1().Secrets("harbour").Get(t.Context(), "db", metav1.GetOptions{})
		require.NoError(t, err)
		assert.True(t, testRules.made(trim(made)))
	})
}

// stale returns a syncer with these caches, before a server that has these objects.
func stale(t *testing.T, cached observed, live ...runtime.Object) (*syncer, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(live...)
	s, err := newSyncer(client, testRules, 0, &testcluster.Output{})
	require.NoError(t, err)
	t.Cleanup(func() { // the queue has goroutines
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s.queue.Run(ctx, 1, s.reconcile)
	})
	if cached.source != nil {
		require.NoError(t, s.sources.GetStore().Add(cached.source))
	}
	if cached.namespace != nil {
		require.NoError(t, s.namespaces.GetStore().Add(cached.namespace))
	}
	if cached.have != nil {
		require.NoError(t, s.copies.GetStore().Add(cached.have))
	}
	return s, client
}

func verbs(client *fake.Clientset) (verbs []string) {
	for _, action := range client.Actions() {
		verbs = append(verbs, action.GetVerb()+" "+action.GetResource().Resource)
	}
	return verbs
}

var harbourDB = types.NamespacedName{Namespace: "harbour", Name: "db"}

func TestActDoesWhatWasDecided(t *testing.T) {
	annotated := func(s *corev1.Secret) { s.Annotations = map[string]string{testRules.annotation: ""} }
	source, made, foreign := whole("secretsync", "db", annotated), testRules.copyOf(aSource(), "harbour", nil), whole("harbour", "db")
	for name, tc := range map[string]struct {
		decision decision
		have     *corev1.Secret
		requests []string
		prints   string
	}{
		"leave":   {decision{leave, "it is as it should be"}, made, nil, ""},
		"create":  {decision{create, "it is missing"}, nil, []string{"create secrets"}, "created harbour/db: it is missing\n"},
		"update":  {decision{update, "its data differs"}, made, []string{"update secrets"}, "updated harbour/db: its data differs\n"},
		"replace": {decision{replace, "its type differs"}, made, []string{"delete secrets", "create secrets"}, "replaced harbour/db: its type differs\n"},
		"remove":  {decision{remove, "it has no source"}, made, []string{"delete secrets"}, "deleted harbour/db: it has no source\n"},
		"collide": {decision{collide, "it was not made by secretsync"}, foreign, []string{"create events"}, "left alone harbour/db: it was not made by secretsync\n"},
		"refuse":  {decision{refuse, "it is a token"}, nil, []string{"create events"}, "refused harbour/db: it is a token\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed{aSource(), aTarget(), trim(tc.have)}
			live := []runtime.Object{source, aTarget()}
			if tc.have != nil {
				live = append(live, tc.have)
			}
			s, client := stale(t, o, live...)
			require.NoError(t, s.act(t.Context(), harbourDB, tc.decision, o))
			assert.Equal(t, tc.requests, verbs(client))
			assert.Equal(t, tc.prints, s.out.(*testcluster.Output).String())
		})
	}
}

// The server refuses to delete what is not what the decision was about.
func TestADeleteNamesTheCopyAndItsVersion(t *testing.T) {
	have := aCopy(func(s *corev1.Secret) { s.UID = "copy-uid" })
	s, client := stale(t, observed{}, whole("harbour", "db"))
	require.NoError(t, s.act(t.Context(), harbourDB, decision{remove, "it has no source"}, observed{nil, aTarget(), have}))
	require.Len(t, client.Actions(), 1)
	options := client.Actions()[0].(clienttesting.DeleteActionImpl).DeleteOptions
	assert.Equal(t, &metav1.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion}, options.Preconditions)
}

// What cannot be written is an error, which the queue tries again, and nothing is printed of it.
func TestAWriteThatFailsIsNotReported(t *testing.T) {
	s, _ := stale(t, observed{})
	err := s.act(t.Context(), harbourDB, decision{update, "its data differs"}, observed{aSource(), aTarget(), aCopy()})
	require.ErrorContains(t, err, "writing harbour/db: ")
	assert.True(t, apierrors.IsNotFound(err), "the cause can still be seen")
	assert.Empty(t, s.out.(*testcluster.Output).String())
}

// The caches do not show what the program itself did a moment ago. The server refuses a
// second copy, and then the decision is made again.
func TestAKeyThatComesBackBeforeTheWatch(t *testing.T) {
	annotated := func(s *corev1.Secret) { s.Annotations = map[string]string{testRules.annotation: ""} }
	s, client := stale(t, observed{aSource(), aTarget(), nil}, whole("secretsync", "db", annotated), aTarget())
	require.NoError(t, s.reconcile(t.Context(), harbourDB))
	require.NoError(t, s.reconcile(t.Context(), harbourDB))
	assert.Equal(t, []string{"create secrets", "create secrets", "get secrets", "get namespaces", "get secrets"}, verbs(client))
}

// An update that was refused has not been made: the next reconcile makes it, though nothing
// has changed.
func TestARefusedUpdateIsMadeAgain(t *testing.T) {
	annotated := func(s *corev1.Secret) { s.Annotations = map[string]string{testRules.annotation: ""} }
	made := testRules.copyOf(aSource(otherUID), "harbour", nil)
	s, client := stale(t, observed{aSource(), aTarget(), trim(made)}, whole("secretsync", "db", annotated), aTarget(), made)
	refusals := 1
	client.PrependReactor("update", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		refusals--
		return refusals >= 0, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "db", nil)
	})
	require.ErrorContains(t, s.reconcile(t.Context(), harbourDB), "forbidden")
	require.NoError(t, s.reconcile(t.Context(), harbourDB))
	assert.Equal(t, []string{"update secrets", "update secrets"}, verbs(client))
}

// While one cache is not full, the queue waits.
func TestNothingIsReconciledBeforeAllCachesHaveSynced(t *testing.T) {
	for late, informer := range map[string]func(*syncer) cache.SharedIndexInformer{
		"the namespaces": func(s *syncer) cache.SharedIndexInformer { return s.namespaces },
		"the sources":    func(s *syncer) cache.SharedIndexInformer { return s.sources },
		"the copies":     func(s *syncer) cache.SharedIndexInformer { return s.copies },
	} {
		t.Run(late, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := newSyncer(fake.NewClientset(aTarget()), testRules, 0, &testcluster.Output{})
				require.NoError(t, err)
				var calls atomic.Int32
				var running sync.WaitGroup
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
				running.Go(func() {
					s.queue.Run(ctx, 1, func(context.Context, types.NamespacedName) error { calls.Add(1); return nil }, s.synced...)
				})
				s.queue.Enqueue(harbourDB)
				for _, i := range []cache.SharedIndexInformer{s.namespaces, s.sources, s.copies} {
					if i != informer(s) {
						running.Go(func() { i.RunWithContext(ctx) })
					}
				}
				time.Sleep(time.Minute) //nolint:forbidigo // fake time
				assert.Zero(t, calls.Load(), "it was reconciled without "+late)
				running.Go(func() { informer(s).RunWithContext(ctx) })
				time.Sleep(time.Minute) //nolint:forbidigo // fake time
				assert.EqualValues(t, 1, calls.Load())
				cancel()
				running.Wait()
			})
		})
	}
}

// A copy stays unless the server confirms that it should go.
func TestAStaleCacheDeletesNoCopy(t *testing.T) {
	annotated := func(s *corev1.Secret) { s.Annotations = map[string]string{testRules.annotation: ""} }
	source, made := whole("secretsync", "db", annotated), testRules.copyOf(aSource(), "harbour", nil)
	for name, tc := range map[string]struct {
		cached observed
		live   []runtime.Object
		want   []string
	}{
		"the source is there": {
			observed{nil, aTarget(), trim(made)}, []runtime.Object{source, aTarget(), made},
			[]string{"get secrets", "get namespaces", "get secrets"},
		},
		"the namespace is a target": {
			observed{aSource(), aTarget(plain), trim(made)}, []runtime.Object{source, aTarget(), made},
			[]string{"get secrets", "get namespaces", "get secrets"},
		},
		"the copy has been replaced": {
			observed{aSource(), aTarget(), aCopy(immutable)}, []runtime.Object{source, aTarget(), made},
			[]string{"get secrets", "get namespaces", "get secrets"},
		},
		"the source is gone": {
			observed{nil, aTarget(), trim(made)}, []runtime.Object{aTarget(), made},
			[]string{"get secrets", "get namespaces", "get secrets", "delete secrets"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := stale(t, tc.cached, tc.live...)
			require.NoError(t, s.reconcile(t.Context(), harbourDB))
			assert.Equal(t, tc.want, verbs(client))
		})
	}
}
