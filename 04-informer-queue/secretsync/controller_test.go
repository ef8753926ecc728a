package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
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
		client := fake.NewClientset(aTarget(), aSource(), whole("harbour", "db"))
		// A fake server sends all secrets to a watch, whatever it selects.
		client.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
			return action.GetNamespace() == metav1.NamespaceAll, watch.NewFake(), nil
		})
		out := runs(t, client)

		time.Sleep(10 * time.Second) //nolint:forbidigo // fake time
		assert.Equal(t, "left alone harbour/db: it was not made by secretsync\n", out.String())
		require.NoError(t, client.CoreV1().Secrets("harbour").Delete(t.Context(), "db", metav1.DeleteOptions{}))
		time.Sleep(retryAfter / 2) //nolint:forbidigo // fake time
		_, err := client.CoreV1().Secrets("harbour").Get(t.Context(), "db", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "no watch reports it")
		time.Sleep(retryAfter) //nolint:forbidigo // fake time
		made, err := client.CoreV1().Secrets("harbour").Get(t.Context(), "db", metav1.GetOptions{})
		require.NoError(t, err)
		assert.True(t, testRules.made(made))
	})
}

// runs runs the program in a bubble, until the test ends, and returns what it prints.
func runs(t *testing.T, client kubernetes.Interface, change ...func(*controller)) *testcluster.Output {
	t.Helper()
	out := &testcluster.Output{}
	c, err := newController(client, testRules, 0, out)
	require.NoError(t, err)
	for _, f := range change {
		f(c)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(ctx, 1)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return out
}

// stale returns a controller with these caches, before a server that has these objects.
func stale(t *testing.T, cached observed, live ...runtime.Object) (*controller, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(live...)
	s, err := newController(client, testRules, 0, &testcluster.Output{})
	require.NoError(t, err)
	t.Cleanup(s.queue.ShutDown) // it has goroutines
	if cached.source != nil {
		require.NoError(t, s.informers[1].GetStore().Add(cached.source))
	}
	if cached.namespace != nil {
		require.NoError(t, s.informers[0].GetStore().Add(cached.namespace))
	}
	if cached.have != nil {
		require.NoError(t, s.informers[2].GetStore().Add(cached.have))
	}
	return s, client
}

func verbs(client *fake.Clientset) (verbs []string) {
	for _, action := range client.Actions() {
		verbs = append(verbs, action.GetVerb()+" "+action.GetResource().Resource)
	}
	return verbs
}

var harbourDB = cache.NewObjectName("harbour", "db")

func TestActDoesWhatWasDecided(t *testing.T) {
	made, foreign := testRules.copyOf(aSource(), "harbour", nil), whole("harbour", "db")
	for name, tc := range map[string]struct {
		decision decision
		have     *corev1.Secret
		requests []string
		prints   string
	}{
		"leave":   {decision{leave, "it is as it should be"}, made, nil, ""},
		"create":  {decision{create, "it is missing"}, nil, []string{"create secrets"}, "created harbour/db: it is missing\n"},
		"update":  {decision{update, "its data differs"}, made, []string{"update secrets"}, "updated harbour/db: its data differs\n"},
		"remove":  {decision{remove, "it has no source"}, made, []string{"delete secrets"}, "deleted harbour/db: it has no source\n"},
		"collide": {decision{collide, "it was not made by secretsync"}, foreign, []string{"create events"}, "left alone harbour/db: it was not made by secretsync\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed{aSource(), aTarget(), tc.have}
			live := []runtime.Object{aSource(), aTarget()}
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
	s, client := stale(t, observed{aSource(), aTarget(), nil}, aSource(), aTarget())
	require.NoError(t, s.reconcile(t.Context(), harbourDB))
	require.NoError(t, s.reconcile(t.Context(), harbourDB))
	assert.Equal(t, []string{"create secrets", "create secrets", "get secrets", "get namespaces", "get secrets"}, verbs(client))
}

// An update that was refused has not been made: the next reconcile makes it, though nothing
// has changed.
func TestARefusedUpdateIsMadeAgain(t *testing.T) {
	made := testRules.copyOf(aSource(otherUID), "harbour", nil)
	s, client := stale(t, observed{aSource(), aTarget(), trimmed(made)}, aSource(), aTarget(), made)
	refusals := 1
	client.PrependReactor("update", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		refusals--
		return refusals >= 0, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "db", nil)
	})
	require.ErrorContains(t, s.reconcile(t.Context(), harbourDB), "forbidden")
	require.NoError(t, s.reconcile(t.Context(), harbourDB))
	assert.Equal(t, []string{"update secrets", "update secrets"}, verbs(client))
}

// While one cache is not full, nothing is reconciled: no copy is made, and none deleted.
func TestNothingIsReconciledBeforeAllCachesHaveSynced(t *testing.T) {
	for i, name := range []string{"the namespaces", "the sources", "the copies"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(aTarget(), aSource(), testRules.copyOf(aSource(otherUID), "harbour", nil))
				ready := make(chan struct{})
				out := runs(t, client, func(c *controller) { c.informers[i] = late{c.informers[i], ready} })
				time.Sleep(time.Minute) //nolint:forbidigo // fake time
				assert.Empty(t, out.String(), "it was reconciled without "+name)
				close(ready)
				time.Sleep(time.Minute) //nolint:forbidigo // fake time
				assert.Equal(t, "updated harbour/db: its source was made anew\n", out.String())
			})
		})
	}
}

// late is an informer whose server answers late.
type late struct {
	cache.SharedIndexInformer
	ready <-chan struct{}
}

func (l late) RunWithContext(ctx context.Context) {
	<-l.ready
	l.SharedIndexInformer.RunWithContext(ctx)
}

// An object is a key for each copy that it may concern, also when the watch missed its deletion.
func TestTheKeysOfAnObject(t *testing.T) {
	coast := aTarget(func(n *corev1.Namespace) { n.Name = "coast" })
	for name, tc := range map[string]struct {
		obj  any
		keys []string
	}{
		"a namespace":                     {coast, []string{"coast/db", "coast/seal"}},
		"a source":                        {aSource(), []string{"coast/db", "harbour/db"}},
		"a copy":                          {aCopy(), []string{"harbour/db"}},
		"a copy whose deletion is missed": {cache.DeletedFinalStateUnknown{Key: "harbour/db", Obj: aCopy()}, []string{"harbour/db"}},
		"nothing":                         {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := stale(t, observed{aSource(), aTarget(), nil})
			require.NoError(t, c.informers[0].GetStore().Add(coast))
			require.NoError(t, c.informers[1].GetStore().Add(aSource(func(s *corev1.Secret) { s.Name = "seal" })))
			c.enqueue(tc.obj)
			var keys []string
			for c.queue.Len() > 0 {
				key, _ := c.queue.Get()
				keys = append(keys, key.String())
			}
			assert.ElementsMatch(t, tc.keys, keys)
		})
	}
}

// A copy stays unless the server confirms that it should go.
func TestAStaleCacheDeletesNoCopy(t *testing.T) {
	made := testRules.copyOf(aSource(), "harbour", nil)
	for name, tc := range map[string]struct {
		cached observed
		live   []runtime.Object
		want   []string
	}{
		"the source is there": {
			observed{nil, aTarget(), trimmed(made)}, []runtime.Object{aSource(), aTarget(), made},
			[]string{"get secrets", "get namespaces", "get secrets"},
		},
		"the namespace is a target": {
			observed{aSource(), aTarget(plain), trimmed(made)}, []runtime.Object{aSource(), aTarget(), made},
			[]string{"get secrets", "get namespaces", "get secrets"},
		},
		"the copy has been replaced": {
			observed{aSource(), aTarget(), aCopy(frozen)}, []runtime.Object{aSource(), aTarget(), made},
			[]string{"get secrets", "get namespaces", "get secrets"},
		},
		"the source is gone": {
			observed{nil, aTarget(), trimmed(made)}, []runtime.Object{aTarget(), made},
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

// The server deletes events when they are an hour old.
func TestWhatIsStillSoIsRecordedAgainWhenTheServerHasForgottenIt(t *testing.T) {
	s, client := stale(t, observed{aSource(), aTarget(), nil},
		aSource(), aTarget(), whole("harbour", "db"))
	for _, want := range []int{1, 1, 2} { // lines; the second time the server still has it
		if want == 2 {
			require.NoError(t, client.Tracker().Delete(eventsv1.SchemeGroupVersion.WithResource("events"), "harbour", eventIn(t, client, "harbour").Name))
		}
		require.NoError(t, s.reconcile(t.Context(), harbourDB))
		assert.Equal(t, "NameCollision", eventIn(t, client, "harbour").Reason)
		assert.Equal(t, want, strings.Count(s.out.(*testcluster.Output).String(), "left alone"))
	}
}

// eventIn returns the only event of a namespace.
func eventIn(t *testing.T, client *fake.Clientset, namespace string) eventsv1.Event {
	t.Helper()
	list, err := client.EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	return list.Items[0]
}

// A foreign secret that its owner changes again and again is in the way all the time, and
// that was recorded: each event is an object in etcd for an hour.
func TestAForeignSecretThatChangesHasOneEvent(t *testing.T) {
	foreign := whole("harbour", "db")
	s, client := stale(t, observed{aSource(), aTarget(), nil}, aSource(), aTarget(), foreign)
	for _, version := range []string{"2", "3", "4"} {
		foreign.ResourceVersion = version
		require.NoError(t, client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), foreign, foreign.Namespace))
		require.NoError(t, s.reconcile(t.Context(), harbourDB))
		eventIn(t, client, "harbour")
	}
}
