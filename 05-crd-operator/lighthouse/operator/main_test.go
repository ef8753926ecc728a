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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// start runs the whole program, until the test or the function ends it.
func start(t *testing.T, config *rest.Config, office string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, config, office, webhook.Options{}) }()
	stopped := false
	stop = func() {
		if cancel(); !stopped {
			stopped = true
			assert.NoError(t, <-ended)
		}
	}
	t.Cleanup(stop)
	return stop
}

// TestTheProgram runs two of it at once, with the rights of the role, for more Lighthouses than one,
// and an office that breaks now and then. One ends on the way, and another one begins.
func TestTheProgram(t *testing.T) {
	c := newCoast(t)
	c.office = lightlist.New(clock.RealClock{}, lightlist.Settings{Bearer: "trinity"})
	server := httptest.NewServer(c.office)
	t.Cleanup(server.Close)
	config := c.cluster.User(t, c.space, testcluster.Rules(t, "config/role.yaml"))
	becomes := func(what string, is func() bool) {
		t.Helper()
		require.Eventually(t, is, testcluster.TestTimeout, 10*time.Millisecond, what)
	}
	const lights = 5
	each := func(is func(name string) bool) func() bool {
		return func() bool {
			for n := range lights {
				if !is(fmt.Sprint("light-", n)) {
					return false
				}
			}
			return true
		}
	}
	reason := func(want string) func() bool {
		return each(func(name string) bool {
			light := eddystone()
			return c.Get(t.Context(), client.ObjectKey{Name: name}, light) == nil && len(light.Status.Conditions) > 0 && light.Status.Conditions[0].Reason == want
		})
	}

	stop := start(t, config, server.URL)
	start(t, config, server.URL)
	c.office.Set(func(s *lightlist.Settings) { s.Bearer = "ulysses" })
	for n := range lights {
		light := eddystone()
		light.Name = fmt.Sprint("light-", n)
		require.NoError(t, c.Create(t.Context(), light))
	}
	becomes("refused", reason("TokenRefused"))
	c.office.Set(func(s *lightlist.Settings) {
		s.Next = []lightlist.Fault{lightlist.Broken, lightlist.Lose, lightlist.Drop, lightlist.Lose}
	})
	c.secret("ulysses") // the watch notices
	becomes("registered", reason("Lighting"))
	stop()
	start(t, config, server.URL)

	require.NoError(t, c.DeleteAllOf(t.Context(), eddystone()))
	becomes("gone", each(func(name string) bool {
		return client.IgnoreNotFound(c.Get(t.Context(), client.ObjectKey{Name: name}, eddystone())) == nil &&
			c.Get(t.Context(), client.ObjectKey{Name: name}, eddystone()) != nil
	}))
	left, ledger := c.office.Books()
	assert.Empty(t, left)
	assert.Equal(t, lights, c.bills("registered"), "%v", ledger)
	assert.Equal(t, lights, c.bills("withdrawn"), "%v", ledger)
}
