package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

var harbourDB = cache.NewObjectName("harbour", "db")

// stale returns a controller with these caches, before a server that has these objects.
func stale(t *testing.T, cached observed, live ...runtime.Object) (*controller, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(live...)
	c, err := newController(client, testRules, 0, &testcluster.Output{})
	require.NoError(t, err)
	t.Cleanup(c.queue.ShutDown) // it has goroutines
	for i, object := range []any{cached.namespace, cached.source, cached.have} {
		if !reflect.ValueOf(object).IsNil() {
			require.NoError(t, c.informers[i].GetStore().Add(object))
		}
	}
	return c, client
}

func verbs(client *fake.Clientset) (verbs []string) {
	for _, action := range client.Actions() {
		verbs = append(verbs, action.GetVerb()+" "+action.GetResource().Resource)
	}
	return verbs
}

func (c *controller) printed() string { return c.out.(*testcluster.Output).String() }

// The server refuses to delete what is not what the decision was about.
func TestADeleteNamesTheCopyAndItsVersion(t *testing.T) {
	have := aCopy(func(s *corev1.Secret) { s.UID = "copy-uid" })
	c, client := stale(t, observed{}, whole("harbour", "db"))
	require.NoError(t, c.act(t.Context(), harbourDB, decision{remove, "it has no source"}, observed{nil, aTarget(), have}))
	options := client.Actions()[0].(clienttesting.DeleteActionImpl).DeleteOptions
	assert.Equal(t, &metav1.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion}, options.Preconditions)
}

// An update that was refused has not been made: the next reconcile makes it, though nothing has changed.
func TestARefusedUpdateIsMadeAgain(t *testing.T) {
	made := aCopy(mark("secretsync/db/old-uid/harbour"))
	c, client := stale(t, observed{aSource(), aTarget(), made}, aSource(), aTarget(), made)
	refusals := 1
	client.PrependReactor("update", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		refusals--
		return refusals >= 0, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "db", nil)
	})
	require.ErrorContains(t, c.reconcile(t.Context(), harbourDB), `writing harbour/db: secrets "db" is forbidden`)
	require.NoError(t, c.reconcile(t.Context(), harbourDB))
	assert.Equal(t, []string{"update secrets", "update secrets"}, verbs(client))
}

// A copy stays unless the server confirms that it should go. One that no cache shows, perhaps because the program made it
// a moment ago, is read when the server refuses to create it. Where nothing is to be done, no request is made, and only
// what has been done is printed.
func TestAStaleCacheDeletesNoCopy(t *testing.T) {
	made := testRules.copyOf(aSource(), "harbour", nil)
	live := []string{"get secrets", "get namespaces", "get secrets"}
	for name, tc := range map[string]struct {
		cached observed
		live   []runtime.Object
		want   []string
		prints string
	}{
		"the source is there":        {observed{nil, aTarget(), aCopy()}, []runtime.Object{aSource(), aTarget(), made}, live, ""},
		"the namespace is a target":  {observed{aSource(), aTarget(plain), aCopy()}, []runtime.Object{aSource(), aTarget(), made}, live, ""},
		"the copy has been replaced": {observed{aSource(), aTarget(), aCopy(frozen)}, []runtime.Object{aSource(), aTarget(), made}, live, ""},
		"the source is gone":         {observed{nil, aTarget(), aCopy()}, []runtime.Object{aTarget(), made}, append(live[:3:3], "delete secrets"), "deleted harbour/db: it has no source\n"},
		"all is as it should be":     {observed{aSource(), aTarget(), aCopy()}, []runtime.Object{aSource(), aTarget(), made}, nil, ""},
		"the copy is there":          {observed{aSource(), aTarget(), nil}, []runtime.Object{aSource(), aTarget(), made}, append([]string{"create secrets"}, live...), ""},
		"an old copy is there":       {observed{aSource(), aTarget(), nil}, []runtime.Object{aSource(otherData), aTarget(), made}, append(append([]string{"create secrets"}, live...), "update secrets"), "updated harbour/db: its data differs\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c, client := stale(t, tc.cached, tc.live...)
			require.NoError(t, c.reconcile(t.Context(), harbourDB))
			assert.Equal(t, tc.want, verbs(client))
			assert.Equal(t, tc.prints, c.printed())
		})
	}
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
		c, _ := stale(t, observed{aSource(), aTarget(), nil})
		require.NoError(t, c.informers[0].GetStore().Add(coast))
		require.NoError(t, c.informers[1].GetStore().Add(aSource(func(s *corev1.Secret) { s.Name = "seal" })))
		c.enqueue(tc.obj)
		var keys []string
		for c.queue.Len() > 0 {
			key, _ := c.queue.Get()
			keys = append(keys, key.String())
		}
		assert.ElementsMatch(t, tc.keys, keys, name)
	}
}

// From here on, the clock is fake, and all but the server is real.

// runs runs the program in a bubble until the test ends. The functions may change it before.
func runs(t *testing.T, client *fake.Clientset, workers int, change ...func(*controller)) (out, log *testcluster.Output) {
	t.Helper()
	// A fake server sends all secrets to a watch, whatever it selects.
	client.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
		return action.GetNamespace() == metav1.NamespaceAll, watch.NewFake(), nil
	})
	out, log = &testcluster.Output{}, &testcluster.Output{}
	c, err := newController(client, testRules, 0, out)
	require.NoError(t, err)
	for _, f := range change {
		f(c)
	}
	testcluster.Run(t, func(ctx context.Context) error {
		c.run(klog.NewContext(ctx, funcr.New(func(_, line string) { fmt.Fprintln(log, line) }, funcr.Options{})), workers)
		return nil
	})
	return out, log
}

func passes(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // fake time

// A foreign secret is tried again each minute, and its owner may change it again and again: that is one event, an object
// in etcd. The server deletes it when it is an hour old. If the secret is still in the way then, that is recorded again.
func TestAForeignSecretHasOneEventAndIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foreign := whole("harbour", "db")
		client := fake.NewClientset(aTarget(), aSource(), foreign)
		out, _ := runs(t, client, 1)
		secrets, events := client.CoreV1().Secrets("harbour"), client.EventsV1().Events("harbour")
		passes(10 * time.Minute)
		foreign.ResourceVersion = "2"
		_, err := secrets.Update(t.Context(), foreign, metav1.UpdateOptions{})
		require.NoError(t, err)
		passes(10 * time.Minute)
		assert.Equal(t, "left alone harbour/db: it was not made by secretsync\n", out.String())
		recorded, err := events.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, recorded.Items, 1)
		event := recorded.Items[0]
		assert.Equal(t, "Warning NameCollision", event.Type+" "+event.Reason)
		assert.Equal(t, foreign.UID, event.Regarding.UID)
		assert.Contains(t, event.Note, "the source secretsync/db is not copied to here")

		require.NoError(t, events.Delete(t.Context(), event.Name, metav1.DeleteOptions{}))
		passes(2 * retryAfter)
		assert.Equal(t, 2, strings.Count(out.String(), "left alone harbour/db"))
		require.NoError(t, secrets.Delete(t.Context(), "db", metav1.DeleteOptions{}))
		passes(2 * retryAfter)
		assert.Contains(t, out.String(), "created harbour/db: it is missing\n", "though no watch reports that it is gone")
	})
}

// slowly is an output that needs a second for each line.
type slowly struct{ testcluster.Output }

func (s *slowly) Write(line []byte) (int, error) { passes(time.Second); return s.Output.Write(line) }

func TestWorkersWorkSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := []runtime.Object{aSource()}
		for _, name := range []string{"coast", "harbour", "island", "pier"} {
			objects = append(objects, aTarget(func(n *corev1.Namespace) { n.Name = name }))
		}
		var out slowly
		runs(t, fake.NewClientset(objects...), 2, func(c *controller) { c.out = &out })
		passes(1500 * time.Millisecond)
		assert.Len(t, out.Lines(), 2)
		passes(time.Second)
		assert.Len(t, out.Lines(), 4, "two rounds of two")
	})
}

// Each copy is a key of its own: with one worker, a namespace that refuses its copies delays no other, nor
// does a panic. When it no longer refuses, the copies come by themselves.
func TestABadTargetDelaysNoOther(t *testing.T) {
	for name, fails := range map[string]func() error{
		"refuses": func() error { return errors.New("exceeded quota") },
		"panics":  func() error { panic("nobody thought of this") },
		"has a quota that changes": func() error {
			return apierrors.NewConflict(corev1.Resource("resourcequotas"), "quota", errors.New("the object has been modified"))
		},
		"has a quota that is deleted": func() error { return apierrors.NewNotFound(corev1.Resource("resourcequotas"), "quota") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(aTarget(), aTarget(func(n *corev1.Namespace) { n.Name = "bad" }), aSource())
				end := time.Now().Add(time.Hour)
				client.PrependReactor("create", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
					if action.GetNamespace() != "bad" || time.Now().After(end) {
						return false, nil, nil
					}
					return true, nil, fails()
				})
				out, log := runs(t, client, 1)
				passes(time.Second)
				assert.Equal(t, "created harbour/db: it is missing\n", out.String())
				assert.Contains(t, log.String(), `"trying again later"`)
				passes(time.Hour + 2*time.Minute)
				assert.Contains(t, out.String(), "created bad/db: it is missing\n")
				assert.Less(t, strings.Count(log.String(), "trying again later"), 80, "once a minute, after the first ones")
			})
		})
	}
}

// While one cache is not full, nothing is reconciled: no copy is made, and none deleted.
func TestNothingIsReconciledBeforeAllCachesHaveSynced(t *testing.T) {
	for i, name := range []string{"the namespaces", "the sources", "the copies"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(aTarget(), aSource(), testRules.copyOf(aSource(otherUID), "harbour", nil))
				ready := make(chan struct{})
				out, _ := runs(t, client, 1, func(c *controller) { c.informers[i] = late{c.informers[i], ready} })
				passes(time.Minute)
				assert.Empty(t, out.String(), "it was reconciled without "+name)
				close(ready)
				passes(time.Minute)
				assert.Equal(t, "updated harbour/db: its source was created again\n", out.String())
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
