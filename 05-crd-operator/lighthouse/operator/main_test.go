package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// start runs the whole program, until the test or the function ends it.
func start(t *testing.T, config *rest.Config, office string, hooks webhook.Options) (stop func()) {
	t.Helper()
	_, stop = testcluster.Run(t, func(ctx context.Context) error { return run(ctx, config, office, hooks) })
	return stop
}

// TestTheProgram runs two of it at once, with the rights of the role, for more Lighthouses than one,
// and an office that breaks now and then. One ends on the way, and another one begins.
func TestTheProgram(t *testing.T) {
	c := newCoast(t)
	c.list = lightlist.New(clock.RealClock{}, lightlist.Settings{Bearer: "ulysses"})
	server := httptest.NewServer(c.list)
	t.Cleanup(server.Close)
	config := c.cluster.User(t, c.space, testcluster.Rules(t, "config/role.yaml"))
	// become waits until there are so many Lighthouses, each with this reason.
	become := func(lights int, reason string) {
		t.Helper()
		require.EventuallyWithT(t, func(tick *assert.CollectT) {
			var list v1alpha1.LighthouseList
			require.NoError(tick, c.List(t.Context(), &list))
			require.Len(tick, list.Items, lights)
			for _, light := range list.Items {
				require.NotEmpty(tick, light.Status.Conditions)
				require.Equal(tick, reason, light.Status.Conditions[0].Reason)
			}
		}, testcluster.TestTimeout, 10*time.Millisecond)
	}

	const lights = 5
	stop := start(t, config, server.URL, webhook.Options{})
	start(t, config, server.URL, webhook.Options{})
	for n := range lights {
		light := eddystone()
		light.Name = fmt.Sprint("light-", n)
		require.NoError(t, c.Create(t.Context(), light))
	}
	become(lights, "TokenRefused")
	c.next(lightlist.Broken, lightlist.Lose, lightlist.Drop, lightlist.Lose)
	c.secret("ulysses\n") // the watch notices
	become(lights, "Lighting")
	stop()
	start(t, config, server.URL, webhook.Options{})

	require.NoError(t, c.DeleteAllOf(t.Context(), eddystone()))
	become(0, "")
	left, ledger := c.list.Books()
	assert.Empty(t, left)
	assert.Equal(t, lights, c.bills("registered"), "%v", ledger)
	assert.Equal(t, lights, c.bills("withdrawn"), "%v", ledger)
}
