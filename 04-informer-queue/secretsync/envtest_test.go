package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// Each of these has an env of its own.
func TestAgainstARealServer(t *testing.T) {
	c := testcluster.Shared(t)
	for name, run := range map[string]func(*testing.T, *testcluster.Cluster){
		"each source is copied to each target":              copiesEach,
		"what stops being a source or a target is cleaned":  cleansUp,
		"copies that are edited or deleted are healed":      heals,
		"what cannot be changed is replaced":                replaces,
		"a foreign secret is left alone, and reported once": collides,
		"a secret that says it is a copy proves nothing":    provesNothing,
		"a target that refuses does not stop the others":    oneBadTarget,
		"workers write side by side":                        sideBySide,
		"nothing is written when nothing differs":           nothingDiffers,
		"two with different rules do not touch one another": twoWithDifferentRules,
		"two with the same rules do the work once":          twoWithTheSameRules,
		"no data is printed or recorded":                    printsNoData,
		"an error names the right that is missing":          forbidden,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, c)
		})
	}
}

func copiesEach(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "copies")
	s.source("db", "tide")
	s.create("source/private", "mine") // bears no annotation
	s.target("harbour")
	s.createNamespace("elsewhere")
	s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide"})

	s.source("certificate", "wax", frozen, otherType)
	s.target("coast")
	s.patch("source/private", string(s.annotation(`""`)))
	s.patch("source/db", `{"data":{"key":null,"user":"bWU="}}`)
	s.becomes(map[string]string{
		"harbour/db": "user=me", "harbour/certificate": "key=wax example.com/other immutable", "harbour/private": "key=mine",
		"coast/db": "user=me", "coast/certificate": "key=wax example.com/other immutable", "coast/private": "key=mine",
	})
}

func cleansUp(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "cleans")
	for _, name := range []string{"db", "mail", "queue"} {
		s.source(name, name)
	}
	s.target("harbour")
	s.target("coast")
	s.create("coast/own", "mine")
	s.start()
	s.becomes(map[string]string{
		"harbour/db": "key=db", "harbour/mail": "key=mail", "harbour/queue": "key=queue",
		"coast/db": "key=db", "coast/mail": "key=mail", "coast/queue": "key=queue", "coast/own": "key=mine foreign",
	})
	s.delete("source/db")
	s.patch("source/mail", string(s.annotation("null")))
	s.annotateNamespace("coast", "null")
	s.becomes(map[string]string{"harbour/queue": "key=queue", "coast/own": "key=mine foreign"})

	s.annotateNamespace("coast", `"back"`)
	s.becomes(map[string]string{"harbour/queue": "key=queue", "coast/queue": "key=queue", "coast/own": "key=mine foreign"})
}

func heals(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "heals")
	s.source("db", "tide")
	s.source("mail", "post")
	s.target("harbour")
	s.start()
	whole := map[string]string{"harbour/db": "key=tide", "harbour/mail": "key=post"}
	s.becomes(whole)
	s.delete("harbour/mail")
	s.patch("harbour/db", `{"metadata":{"labels":{"team":"coast"}},"data":{"key":"eA=="}}`)
	s.becomes(whole)
	assert.Equal(t, "coast", s.get("harbour/db").Labels["team"], "what others have added remains")
}

func replaces(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "replaces")
	s.source("db", "tide")
	s.target("harbour")
	s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	s.patch("harbour/db", `{"immutable":true,"stringData":{"key":"forged"}}`)
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	s.patch("source/db", `{"immutable":true}`)
	s.becomes(map[string]string{"harbour/db": "key=tide immutable"})
}

// eventsOf waits for as many events about secrets of the env, and returns them.
func eventsOf(s *env, want int) []eventsv1.Event {
	s.t.Helper()
	var got []eventsv1.Event
	require.EventuallyWithT(s.t, func(collect *assert.CollectT) {
		list, err := s.client.EventsV1().Events("").List(s.t.Context(), metav1.ListOptions{})
		require.NoError(collect, err)
		got = slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return !strings.HasPrefix(e.Namespace, s.name+"-") })
		assert.Len(collect, got, want)
	}, testcluster.TestTimeout, 20*time.Millisecond)
	return got
}

func collides(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "collides")
	s.target("harbour")
	foreign := s.create("harbour/db", "mine")
	s.source("db", "tide")
	s.source("mail", "post")
	requests := &ledger{}
	stop := s.startWith(4, time.Second, requests.watch)
	s.becomes(map[string]string{"harbour/db": "key=mine foreign", "harbour/mail": "key=post"})

	event := eventsOf(s, 1)[0]
	assert.Equal(t, "Warning NameCollision", event.Type+" "+event.Reason)
	assert.Equal(t, "the source "+s.name+"-source/db is not copied to here, because secretsync did not make this secret and leaves it alone; rename or delete one of the two", event.Note)
	assert.Equal(t, foreign.UID, event.Regarding.UID)

	// However often it is reconciled, nothing is written and nothing more is recorded. Each
	// change of the source causes that; that of mail shows that it has happened.
	for i := range 3 {
		s.set("source/db", fmt.Sprint(i))
		s.set("source/mail", fmt.Sprint(i))
		s.becomes(map[string]string{"harbour/db": "key=mine foreign", "harbour/mail": fmt.Sprintf("key=%d", i)})
	}
	stop()
	posts := slices.DeleteFunc(requests.all(), func(w string) bool { return !strings.HasPrefix(w, "POST") })
	slices.Sort(posts)
	assert.Equal(t, []string{
		"POST 201 /api/v1/namespaces/" + s.name + "-harbour/secrets",
		"POST 201 /apis/events.k8s.io/v1/namespaces/" + s.name + "-harbour/events",
		"POST 409 /api/v1/namespaces/" + s.name + "-harbour/secrets",
		"POST 409 /apis/events.k8s.io/v1/namespaces/" + s.name + "-harbour/events",
	}, slices.Compact(posts), "the server refuses the copy and a second event")
	assert.Equal(t, 1, strings.Count(s.out.String(), "left alone "), s.out.String())
	assert.Equal(t, foreign.ResourceVersion, s.get("harbour/db").ResourceVersion, "it is as it was")

	// A restart records nothing new. When the foreign secret goes, the next reconcile finds
	// that, here by a resync.
	s.startWith(4, time.Second)
	s.set("source/mail", "again")
	s.becomes(map[string]string{"harbour/db": "key=mine foreign", "harbour/mail": "key=again"})
	s.delete("harbour/db")
	s.becomes(map[string]string{"harbour/db": "key=2", "harbour/mail": "key=again"})
	eventsOf(s, 1)
}

func provesNothing(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "proof")
	s.source("db", "tide")
	s.target("harbour")
	s.createNamespace("coast")
	stop := s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide"})

	// A copy of the copy, marks and all, in two places where none belongs.
	made := s.get("harbour/db")
	for _, place := range []string{"coast/db", "harbour/db-backup"} {
		s.create(place, "backup", func(o *corev1.Secret) { o.Labels, o.Annotations = made.Labels, made.Annotations })
	}
	// And a label alone, by a program that uses the word.
	s.create("coast/labelled", "x", func(o *corev1.Secret) { o.Labels = map[string]string{managedBy: program} })
	s.set("source/db", "ebb")
	want := map[string]string{
		"harbour/db": "key=ebb", "harbour/db-backup": "key=backup foreign",
		"coast/db": "key=backup foreign", "coast/labelled": "key=x foreign",
	}
	s.becomes(want)
	stop()

	s.annotateNamespace("coast", `""`)
	s.source("labelled", "y")
	s.source("last", "z")
	s.startWith(1, 0)
	want["harbour/labelled"], want["harbour/last"], want["coast/last"] = "key=y", "key=z", "key=z"
	s.becomes(want)
	eventsOf(s, 2)
}

// Each copy is a key of its own: with one worker, twenty that fail delay no other.
func oneBadTarget(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "bad")
	s.target("full")
	s.target("harbour")
	want := map[string]string{}
	for i := range 20 {
		name := fmt.Sprintf("db-%d", i)
		s.source(name, "tide")
		want["harbour/"+name] = "key=tide"
	}
	var open atomic.Bool
	s.startWith(1, 0, through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodPost && strings.Contains(request.URL.Path, "-full/") && !open.Load() {
			return nil, errors.New("exceeded quota")
		}
		return next.RoundTrip(request)
	}))
	s.becomes(want)

	// And when it no longer refuses, the copies come by themselves.
	open.Store(true)
	for i := range 20 {
		want[fmt.Sprintf("full/db-%d", i)] = "key=tide"
	}
	s.becomes(want)
}

func sideBySide(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "workers")
	s.target("harbour")
	want := map[string]string{}
	for i := range 4 {
		name := fmt.Sprintf("db-%d", i)
		s.source(name, "tide")
		want["harbour/"+name] = "key=tide"
	}
	// Each write waits until all four have begun.
	var begun atomic.Int32
	all := make(chan struct{})
	s.startWith(4, 0, through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method != http.MethodPost {
			return next.RoundTrip(request)
		}
		if begun.Add(1) == 4 {
			close(all)
		}
		select {
		case <-all:
			return next.RoundTrip(request)
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}))
	s.becomes(want)
}

func nothingDiffers(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "steady")
	want := map[string]string{}
	s.target("harbour")
	s.target("coast")
	for i := range 10 {
		name := fmt.Sprintf("db-%d", i)
		s.source(name, "tide")
		want["harbour/"+name], want["coast/"+name] = "key=tide", "key=tide"
	}
	first := &ledger{}
	stop := s.start(first.watch)
	s.becomes(want)
	stop()
	assert.Len(t, firsts(first.all()), 20)

	// With one worker, keys are taken in the order in which they came. So when
	// the last source is copied, all before it have been reconciled: those of
	// the start, and those of resyncs meanwhile.
	again := &ledger{}
	stop = s.startWith(1, time.Second, again.watch)
	for i := range 3 {
		name := fmt.Sprintf("last-%d", i)
		s.source(name, "x")
		want["harbour/"+name], want["coast/"+name] = "key=x", "key=x"
		s.becomes(want)
		s.patch("source/db-0", `{"metadata":{"labels":{"touched":"`+name+`"}}}`)
		s.annotateNamespace("coast", `"`+name+`"`)
	}
	stop()
	assert.Len(t, firsts(again.all()), 6, "two copies of each new source, and nothing else")
}

func twoWithDifferentRules(t *testing.T, c *testcluster.Cluster) {
	one, two := newEnv(t, c, "one"), newEnv(t, c, "two")
	one.source("db", "tide")
	two.source("mail", "post")
	one.target("harbour")
	// The namespace is a target of both.
	_, err := c.Client.CoreV1().Namespaces().Patch(t.Context(), one.name+"-harbour", "application/merge-patch+json", two.annotation(`""`), metav1.PatchOptions{})
	require.NoError(t, err)
	one.start()
	two.start()
	one.becomes(map[string]string{"harbour/db": "key=tide", "harbour/mail": "key=post foreign"})
	one.set("source/db", "ebb")
	two.set("source/mail", "parcel")
	one.becomes(map[string]string{"harbour/db": "key=ebb", "harbour/mail": "key=parcel foreign"})
	one.annotateNamespace("harbour", "null")
	one.becomes(map[string]string{"harbour/mail": "key=parcel foreign"})
}

// Two copies of the program have the same rules, as during an update of a Deployment. Each
// write is accepted once, and none undoes another.
func twoWithTheSameRules(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "both")
	s.target("taken")
	s.create("taken/db-1", "mine")
	s.annotateNamespace("taken", "null")
	requests := &ledger{}
	stopOne := s.startWith(4, time.Second, requests.watch)
	stopTwo := s.startWith(4, time.Second, requests.watch)
	churn(s, func() {}, map[string]string{"taken/db-1": "key=mine foreign"})
	creates := slices.DeleteFunc(requests.all(), func(w string) bool { return !strings.HasPrefix(w, "POST 201") })
	assert.LessOrEqual(t, len(creates), 18, "six sources in three targets: no copy was deleted and made anew")

	s.annotateNamespace("taken", `""`)
	eventsOf(s, 1)
	stopOne()
	stopTwo()
	assert.Equal(t, 1, strings.Count(s.out.String(), "left alone "), s.out.String())
	assert.NotContains(t, s.log.String(), "trying again later", "to be second is not a failure")
}

func printsNoData(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "silent")
	s.source("db", "unmistakable")
	s.source("seal", "unmistakable", frozen)
	s.target("harbour")
	s.target("coast")
	s.create("coast/db", "unmistakable, too")
	stop := s.start(refuseOnce("PUT"), refuseOnce("POST"), refuseOnce("DELETE"))
	s.becomes(map[string]string{"harbour/db": "key=unmistakable", "harbour/seal": "key=unmistakable immutable",
		"coast/db": "key=unmistakable, too foreign", "coast/seal": "key=unmistakable immutable"})
	s.set("source/db", "unmistakable as well")
	s.delete("source/seal")
	s.becomes(map[string]string{"harbour/db": "key=unmistakable as well", "coast/db": "key=unmistakable, too foreign"})
	event := eventsOf(s, 1)[0]
	stop()

	all := s.out.String() + s.log.String() + event.String()
	assert.Contains(t, s.log.String(), "trying again later")
	assert.NotContains(t, all, "unmistakable")
	assert.NotContains(t, all, "dW5taXN0YWthYmxl", "nor in base64")
	assert.NotContains(t, all, "117 110 109 105", "nor as bytes")
}

func forbidden(t *testing.T, c *testcluster.Cluster) {
	jane, err := clientcmd.BuildConfigFromFlags("", c.UserKubeconfig(t, "jane"))
	require.NoError(t, err)
	err = run(t.Context(), jane, &bytes.Buffer{}, options{testRules, 0, 1})
	require.ErrorContains(t, err, `secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope`)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, run(ctx, jane, &bytes.Buffer{}, options{testRules, 0, 1}), "to be interrupted is no error")
}

func TestSettingsThatDoHarm(t *testing.T) {
	for want, o := range map[string]options{
		"--workers must be at least 1":                            {testRules, 0, 0},
		`--source-namespace "" is not the name`:                   {rules{"example.com/x", ""}, 0, 1},
		`--annotation "bad key" must be a key of your own`:        {rules{"bad key", "secretsync"}, 0, 1},
		`--annotation "k8s.io/x" must be a key of your own`:       {rules{"k8s.io/x", "secretsync"}, 0, 1},
		`--annotation "kubectl.kubernetes.io/last" must be a key`: {rules{"kubectl.kubernetes.io/last", "secretsync"}, 0, 1},
	} {
		require.ErrorContains(t, o.validate(), want)
	}
	require.NoError(t, options{testRules, 0, 1}.validate())
}
