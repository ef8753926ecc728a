package layers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// The queue and the workers are the framework's. Its clock begins in the year 2000, and
// jumps to the next timer as soon as all goroutines wait. So an hour takes no time.
func TestSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeClient(t)
		require.NoError(t, c.Create(t.Context(), newAt(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))))
		startController(t, c)

		time.Sleep(time.Hour - time.Nanosecond) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.Equal(t, cnat.Pending, phase(t, c), "a nanosecond early")
		time.Sleep(time.Nanosecond) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.Equal(t, cnat.Running, phase(t, c))
	})
}

// No watch reports that a quota has room again.
func TestARefusedPodIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := true
		c := interceptor.NewClient(newFakeClient(t), quota(&full))
		createRunningAt(t, c)
		startController(t, c)
		synctest.Wait() // the pod was refused
		full = false

		time.Sleep(10*time.Second - time.Nanosecond) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.False(t, hasPod(t, c), "a nanosecond early")
		time.Sleep(time.Nanosecond) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.True(t, hasPod(t, c), "after ten seconds")
	})
}

// startController runs the Reconciler with the queue and the workers of the framework until the
// test ends. In place of the watches there is one event, at the start.
func startController(t *testing.T, c client.Client) {
	t.Helper()
	operator, err := controller.NewTypedUnmanaged("at", controller.Options{
		Reconciler: newReconciler(c), Logger: logr.Discard(),
		SkipNameValidation: new(true), // the test may be run again
	})
	require.NoError(t, err)
	require.NoError(t, operator.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		queue.Add(request())
		return nil
	})))
	testcluster.Run(t, operator.Start)
}

// Fake time stands still while a goroutine waits for the network. So in fake time no
// request is ever late, and an open watch stops the clock.
func TestARequestTakesNoFakeTime(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	measure := func() time.Duration {
		transport := &http.Transport{DisableKeepAlives: true}
		begin := time.Now()
		response, err := (&http.Client{Transport: transport}).Get(server.URL)
		took := time.Since(begin)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return took
	}

	assert.Positive(t, measure())
	synctest.Test(t, func(t *testing.T) { assert.Zero(t, measure()) })
}
