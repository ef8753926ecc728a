package secretsync

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
)

// TestAForeignSecretIsLookedAtAgain needs a minute to pass, so time is fake, and
// so is the server.
func TestAForeignSecretIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := whole("secretsync", "db", func(s *corev1.Secret) { s.Annotations = map[string]string{testRules.annotation: ""} })
		client := fake.NewClientset(aTarget(), source, whole("harbour", "db"))
		// A fake server sends all secrets to a watch, whatever it selects.
		client.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
			return action.GetNamespace() == metav1.NamespaceAll, watch.NewFake(), nil
		})
		var out lockedBuffer
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		done := make(chan error, 1)
		go func() { done <- newSyncer(client, testRules, &out).run(ctx, 1, 0) }()

		time.Sleep(10 * time.Second) //nolint:forbidigo // fake time
		assert.Equal(t, "left alone harbour/db: it was not made by secretsync\n", out.String())
		require.NoError(t, client.CoreV1().Secrets("harbour").Delete(t.Context(), "db", metav1.DeleteOptions{}))
		time.Sleep(again / 2) //nolint:forbidigo // fake time
		_, err := client.CoreV1().Secrets("harbour").Get(t.Context(), "db", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "nobody tells of it")
		time.Sleep(again) //nolint:forbidigo // fake time
		made, err := client.CoreV1().Secrets("harbour").Get(t.Context(), "db", metav1.GetOptions{})
		require.NoError(t, err)
		assert.True(t, testRules.made(trim(made)))

		cancel()
		require.NoError(t, <-done)
	})
}

// TestAKeyThatComesBackBeforeTheWatch is a cache that has not heard of the copy
// yet. The server is asked, and nothing is attempted.
func TestAKeyThatComesBackBeforeTheWatch(t *testing.T) {
	source := aSource()
	client := fake.NewClientset()
	s := newSyncer(client, testRules, &lockedBuffer{})
	var err error
	s.caches, err = newCaches(client, testRules, 0, nil)
	require.NoError(t, err)
	require.NoError(t, s.caches.sources.GetStore().Add(source))
	require.NoError(t, s.caches.namespaces.GetStore().Add(aTarget()))
	key := types.NamespacedName{Namespace: "harbour", Name: "db"}
	require.NoError(t, s.reconcile(t.Context(), key))
	require.NoError(t, s.reconcile(t.Context(), key))

	var verbs []string
	for _, action := range client.Actions() {
		verbs = append(verbs, action.GetVerb())
	}
	assert.Equal(t, []string{"create", "get"}, verbs)
}
