package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

// life is what happens to a Lighthouse, and what each of it has to come to.
var life = []struct {
	name    string
	happens func(*coast)
	ends    func(*coast) bool
}{
	{"a user creates it",
		func(c *coast) { require.NoError(c, c.Create(c.Context(), eddystone())) },
		func(c *coast) bool { return c.is() == "Ready Burning" && c.listed(plymouth) }},
	{"a user moves it",
		func(c *coast) { c.change(func(light *v1alpha1.Lighthouse) { light.Spec.Position = rame }) },
		func(c *coast) bool { return c.is() == "Ready Burning" && c.listed(rame) }},
	{"a clerk changes its entry",
		func(c *coast) { c.list.Edit(string(c.light().UID), "elsewhere", "long") },
		func(c *coast) bool { return c.is() == "Ready Burning" && c.listed(rame) }},
	{"a user deletes it",
		func(c *coast) { require.NoError(c, c.Delete(c.Context(), eddystone())) },
		func(c *coast) bool { return c.is() == "gone" }},
}

// live lets all of it happen.
func (o *operator) live() *operator {
	for _, step := range life {
		step.happens(o.coast)
		o = o.drive(func() bool { return step.ends(o.coast) })
	}
	return o
}

// mustHaveBeenHonest reads the ledger, after the fault of a wire: one registration, and it's withdrawn.
func (c *coast) mustHaveBeenHonest(w *wire) {
	c.Helper()
	assert.GreaterOrEqual(c, len(w.calls), w.at, "the fault did not happen")
	lights, ledger := c.list.Books()
	assert.Empty(c, lights, "a registration was forgotten")
	assert.Equal(c, 1, c.bills("registered"), "registrations that were paid for: %v", ledger)
	assert.Equal(c, 1, c.bills("withdrawn"), "%v", ledger)
}

// undisturbed returns the calls of a life without a fault.
func undisturbed(t *testing.T) []string {
	t.Helper()
	w := &wire{}
	c := newCoast(t)
	c.operator(w).live()
	c.mustHaveBeenHonest(w)
	return w.calls
}

// TestEveryPoint counts the calls of a life without a fault. Then it runs that life once for each of
// them and each fault: in the end the Lighthouse is what it is without, and the office has one
// registration in its ledger, and none in its list.
func TestEveryPoint(t *testing.T) {
	calls := undisturbed(t)
	t.Logf("%d calls: %s", len(calls), strings.Join(calls, ", "))
	points := map[string]int{}
	for n, call := range calls {
		for name := range faultsOf(call, nil) {
			points[name]++
			t.Run(fmt.Sprintf("%s call %d, %s", name, n+1, call), func(t *testing.T) {
				t.Parallel()
				c := newCoast(t)
				w := &wire{at: n + 1, fault: faultsOf(call, c)[name]}
				c.operator(w).live()
				c.mustHaveBeenHonest(w)
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(points)) {
		t.Logf("%-30s %d points", name, points[name])
	}
}

// faultsOf are those that a call can have, with what each does on a coast.
func faultsOf(call string, c *coast) map[string]fault {
	faults := map[string]fault{"it dies before": dieBefore, "it dies after": dieAfter, "the answer is lost to": lose, "the connection breaks before": drop}
	if strings.HasPrefix(call, "office") {
		faults["down from"] = c.down
		for _, f := range []lightlist.Fault{lightlist.TooMany, lightlist.Broken, lightlist.Drop, lightlist.Hang, lightlist.Lose, lightlist.Late} {
			faults[string(f)+" at"] = c.officeFault(f)
		}
		return faults
	}
	for code, reason := range map[int]string{409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"} {
		faults[fmt.Sprint(code, " to")] = answer(code, reason)
	}
	return faults
}

// TestAStaleCache freezes the cache at each call: for the next reconciles it shows what was there
// before, whatever the operator or a user does.
func TestAStaleCache(t *testing.T) {
	for n, call := range undisturbed(t) {
		for _, reconciles := range []int{2, 5} {
			t.Run(fmt.Sprintf("for %d reconciles at call %d, %s", reconciles, n+1, call), func(t *testing.T) {
				t.Parallel()
				c := newCoast(t)
				w := &wire{at: n + 1}
				o := c.operator(w)
				w.fault = func(_ *wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
					o.cache.left = reconciles
					return next.RoundTrip(r)
				}
				o.live()
				c.mustHaveBeenHonest(w)
			})
		}
	}
}

// TestTwoOperators stops one at each call, before it and after it. Meanwhile another one does the
// rest of the step, or of the whole life. Then the first one goes on with what it knew.
func TestTwoOperators(t *testing.T) {
	for n, call := range undisturbed(t) {
		for _, when := range []string{"before", "after"} {
			for _, until := range []string{"the step ends", "all is over"} {
				t.Run(fmt.Sprintf("one waits %s call %d, %s, until %s", when, n+1, call, until), func(t *testing.T) {
					t.Parallel()
					c := newCoast(t)
					h := newHold()
					w := &wire{at: n + 1, fault: h.before}
					if when == "after" {
						w.fault = h.after
					}
					c.twoLive(c.operator(w), c.operator(&wire{}), h, until == "all is over")
					c.mustHaveBeenHonest(w)
				})
			}
		}
	}
}

// twoLive lets all of it happen to two operators, the first of which is held up once.
func (c *coast) twoLive(first, second *operator, h hold, toTheEnd bool) {
	ended := make(chan struct{})
	held := false
	for _, step := range life {
		step.happens(c)
		ends := func() bool { return step.ends(c) || toTheEnd && c.is() == "gone" }
		if held {
			second.drive(ends)
			if !toTheEnd {
				first.drive(ends)
			}
			continue
		}
		go func() {
			defer close(ended)
			first.drive(ends)
		}()
		select {
		case <-h.held:
			held = true
			second.drive(ends)
			if !toTheEnd {
				close(h.release)
				<-ended
				second.drive(ends)
			}
		case <-ended:
			ended = make(chan struct{})
		}
	}
	if held && toTheEnd {
		close(h.release)
		<-ended
	}
}
