package secretsync

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

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
	assert.Equal(t, "Secret "+s.name+"-harbour/db", event.Regarding.Kind+" "+event.Regarding.Namespace+"/"+event.Regarding.Name)
	assert.Equal(t, s.name+"-source/db", event.Related.Namespace+"/"+event.Related.Name)

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
	assert.Equal(t, 1, strings.Count(s.out.String(), "left alone "+s.name+"-harbour/db: it was not made by secretsync\n"), s.out.String())
	now, err := s.client.CoreV1().Secrets(s.name+"-harbour").Get(t.Context(), "db", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, foreign.ResourceVersion, now.ResourceVersion, "it is as it was")

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
	made, err := s.client.CoreV1().Secrets(s.name+"-harbour").Get(t.Context(), "db", metav1.GetOptions{})
	require.NoError(t, err)
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

func tokens(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "tokens")
	_, err := s.client.CoreV1().ServiceAccounts(s.name+"-source").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sailor"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	s.create("source/token", "t", func(o *corev1.Secret) {
		o.Type = corev1.SecretTypeServiceAccountToken
		o.Annotations = map[string]string{s.rules.annotation: "", corev1.ServiceAccountNameKey: "sailor"}
	})
	s.source("db", "tide")
	s.target("harbour")
	s.target("coast")
	s.start()
	event := eventsOf(s, 1)[0]
	assert.Equal(t, "NotCopied", event.Reason)
	assert.Equal(t, s.name+"-source/token", event.Regarding.Namespace+"/"+event.Regarding.Name)
	assert.Equal(t, s.name+"-source/token is not copied, because it is the token of a service account; give the other namespace a service account of its own", event.Note)
	s.becomes(map[string]string{"harbour/db": "key=tide", "coast/db": "key=tide"})
}

func sourceIsNoTarget(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "itself")
	s.source("db", "tide")
	s.target("harbour")
	s.annotateNamespace("source", `""`)
	requests := &ledger{}
	stop := s.startWith(1, 0, requests.watch)
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	s.source("last", "x")
	s.becomes(map[string]string{"harbour/db": "key=tide", "harbour/last": "key=x"})
	stop()
	assert.Len(t, firsts(requests.all()), 2)
	eventsOf(s, 0)
}

func twoSyncers(t *testing.T, c *testcluster.Cluster) {
	one, two := newEnv(t, c, "one"), newEnv(t, c, "two")
	one.source("db", "tide")
	two.source("mail", "post")
	one.target("harbour")
	// The namespace is a target of both.
	two.t.Helper()
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
