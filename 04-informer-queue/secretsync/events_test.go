package secretsync

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"example.com/hacking-a-controller/testcluster"
)

// All workers of two programs, one after the other, want to record the same.
func TestAnEventIsRecordedOnce(t *testing.T) {
	client := fake.NewClientset()
	token := aSource(token)
	var out testcluster.Output
	for range 2 {
		s := &syncer{client: client, rules: testRules, out: &out}
		var workers errgroup.Group
		for range 8 {
			workers.Go(func() error {
				return s.record(t.Context(), types.NamespacedName{Namespace: "harbour", Name: "db"}, decision{refuse, "it is a token"}, token, token)
			})
		}
		require.NoError(t, workers.Wait())
	}
	assert.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
	list, err := client.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, "NotCopied", list.Items[0].Reason)
}

// The server deletes events when they are an hour old.
func TestWhatIsStillSoIsRecordedAgainWhenTheServerHasForgottenIt(t *testing.T) {
	s, client := stale(t, observed{aSource(), aTarget(), nil},
		whole("secretsync", "db", func(o *corev1.Secret) { o.Annotations = map[string]string{testRules.annotation: ""} }), aTarget(), whole("harbour", "db"))
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
// that was recorded.
func TestAForeignSecretThatChangesHasOneEvent(t *testing.T) {
	foreign := whole("harbour", "db")
	s, client := stale(t, observed{aSource(), aTarget(), nil},
		whole("secretsync", "db", func(o *corev1.Secret) { o.Annotations = map[string]string{testRules.annotation: ""} }), aTarget(), foreign)
	for _, version := range []string{"2", "3", "4"} {
		foreign.ResourceVersion = version
		require.NoError(t, client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), foreign, foreign.Namespace))
		require.NoError(t, s.reconcile(t.Context(), harbourDB))
	}
	list, err := client.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, event := range list.Items {
		names = append(names, event.Name)
	}
	assert.Len(t, names, 1, "each event is an object in etcd for an hour")
}
