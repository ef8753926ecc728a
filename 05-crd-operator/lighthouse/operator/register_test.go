package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
)

func TestTheFinalizerIsThereBeforeTheOfficeIsCalled(t *testing.T) {
	c := newCoast(t)
	require.NoError(t, c.Create(t.Context(), eddystone()))
	o := c.operator(&wire{})
	_, err := o.reconcile(t.Context())
	require.NoError(t, err)
	posted := slices.Index(o.calls, "office: POST")
	require.GreaterOrEqual(t, posted, 0, "nobody has registered it: %v", o.calls)
	assert.Contains(t, o.calls[:posted], "PATCH lighthouses", "it may be registered, and could go without being withdrawn: %v", o.calls)
}

func TestTheTokenOfARegistrationIsTheUID(t *testing.T) {
	c := newCoast(t)
	for range 2 { // the second one has the name of the first, which is gone
		require.NoError(t, c.Create(t.Context(), eddystone()))
		o := c.operator(&wire{})
		o.becomes("Ready Burning")
		assert.True(t, c.listed(plymouth), "the Light List doesn't have it under its UID, once, with the number of its status")
		require.NoError(t, c.Delete(t.Context(), eddystone()))
		o.becomes("gone")
	}
}

// TestALighthouseThatIsGoneIsNotRegistered stops an operator before it looks the registration up. Another one withdraws it,
// and the Lighthouse goes. The cache of the first one still has it.
func TestALighthouseThatIsGoneIsNotRegistered(t *testing.T) {
	c := newCoast(t)
	require.NoError(t, c.Create(t.Context(), eddystone()))
	c.office.Set(func(s *lightlist.Settings) { s.Down = true })
	late := c.operator(&wire{})
	for range 2 {
		_, err := late.reconcile(t.Context())
		require.Error(t, err, "the office is down")
	}
	late.cache.freeze(10)
	c.office.Set(func(s *lightlist.Settings) { s.Down = false })
	require.NoError(t, c.Delete(t.Context(), eddystone()))
	c.operator(&wire{}).becomes("gone")

	c.clock.Step(2 * lightlist.KeyLife)
	again, err := late.reconcile(t.Context())
	require.NoError(t, err, "a cache that is stale is no error")
	assert.Positive(t, again, "nobody calls it again")
	lights, _ := c.office.Books()
	assert.Empty(t, lights, "it's registered, and there is no Lighthouse")
}
