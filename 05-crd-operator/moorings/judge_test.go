// The judge of the exercise your-operator builds the program, or takes the one that the variable PROGRAM names, and
// runs it against an API server and a harbour desk. It plays the desk, and all that goes wrong.
//
//	judge_test.go  what the kind and the program have to do
//	env_test.go    the namespace, the program, and waiting
//	wire_test.go   the program's requests, and the faults
//	office/desk    the desk
//
// The judge waits for an expected change until that is there, or until the program has looked at the desk so often
// that it must have seen the reason.
package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/moorings/office/desk"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // a test waits for its program most of the time
	testcluster.Main(m)
}

func TestTheSchemaRefusesNonsense(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}}
	for name, spec := range map[string]string{
		"a ship":                    `{"ship": "Beagle", "metres": 27}`,
		"the shortest name":         `{"ship": "A", "metres": 27}`,
		"the longest name":          fmt.Sprintf(`{"ship": %q, "metres": 27}`, strings.Repeat("a", 40)),
		"the shortest ship":         `{"ship": "Beagle", "metres": 1}`,
		"the longest ship there is": `{"ship": "Beagle", "metres": 400}`,
	} {
		_, err := e.moorings.Create(t.Context(), object("good", spec), options)
		assert.NoError(t, err, "%s is refused: %s", name, spec)
	}
	for name, spec := range map[string]string{
		"nothing":                 `{}`,
		"no ship":                 `{"metres": 27}`,
		"a ship without a name":   `{"ship": "", "metres": 27}`,
		"a name that is too long": fmt.Sprintf(`{"ship": %q, "metres": 27}`, strings.Repeat("a", 41)),
		"a name that is a number": `{"ship": 27, "metres": 27}`,
		"no length":               `{"ship": "Beagle"}`,
		"a length of nothing":     `{"ship": "Beagle", "metres": 0}`,
		"a ship of dreams":        `{"ship": "Beagle", "metres": 401}`,
		"half a metre":            `{"ship": "Beagle", "metres": 27.5}`,
		"a length in words":       `{"ship": "Beagle", "metres": "27"}`,
		"a field that isn't one":  `{"ship": "Beagle", "metres": 27, "meters": 27}`,
	} {
		_, err := e.moorings.Create(t.Context(), object("bad", spec), options)
		assert.True(t, apierrors.IsInvalid(err) || apierrors.IsBadRequest(err), "%s is accepted: %s (%v)", name, spec, err)
	}
	bare := object("bad", `{}`)
	delete(bare.Object, "spec")
	_, err := e.moorings.Create(t.Context(), bare, options)
	assert.True(t, apierrors.IsInvalid(err), "a Mooring without a spec is accepted (%v)", err)
}

func TestAShipIsNotExchanged(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.create("eddy", 27)
	e.resize("eddy", 28)
	_, err := e.moorings.Patch(t.Context(), "eddy", types.MergePatchType, []byte(`{"spec": {"ship": "Bounty"}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsInvalid(err), "the ship of a Mooring was exchanged, but its booking is for one ship (%v)", err)
}

func TestTheStatusIsASubresource(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.create("eddy", 27)
	const status = `{"status": {"number": "B1", "berth": "N-1", "observedGeneration": 1, "conditions": [
		{"type": "Ready", "status": "True", "reason": "Booked", "message": "for a test", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	e.patch("eddy", status)
	assert.Empty(t, e.get("eddy").Status.Number, "who writes the spec writes the status, too: it's no subresource")
	_, err := e.moorings.Patch(t.Context(), "eddy", types.MergePatchType, []byte(status), metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, "status")
	require.NoError(t, err, "the status can't be written")
	m := e.get("eddy")
	require.Len(t, m.Status.Conditions, 1, "the condition is not kept")
	assert.Equal(t, "B1 N-1 1 1 for a test", fmt.Sprint(m.Status.Number, " ", m.Status.Berth, " ", m.Status.ObservedGeneration, " ", m.readiness().ObservedGeneration, " ", m.readiness().Message), "what the status keeps")
	assert.EqualValues(t, 1, m.Generation, "a write of the status is no generation")
}

func TestItRunsUntilItIsStopped(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		e.start()
		e.stop(signal)
	}
}

func TestAMooringIsBookedOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	phone := e.Book(desk.Booking{Reference: "by telephone", Ship: "Beagle", Metres: 27})
	before := e.create("before", 27)
	e.start()
	after := e.create("after", 300)
	e.ready("before", "after")
	e.paidOnce(before)
	e.paidOnce(after)
	assert.Equal(t, []desk.Booking{phone}, e.Bookings("by telephone"), "the booking of somebody else was changed")
	assert.ElementsMatch(t, []string{before, after}, e.References(), "the references of all bookings")
}

func TestAChangeReachesTheDesk(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	reference := e.create("eddy", 27)
	e.ready("eddy")
	for _, metres := range []int{150, 28} {
		e.resize("eddy", metres)
		e.ready("eddy")
	}
	assert.Equal(t, []string{"booked", "changed", "changed"}, e.Ledger(reference), "what was done at the desk")
}

func TestARefusalIsShown(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	e.create("titan", 350)
	message := e.notReady("titan", "the desk refuses the booking")
	assert.Contains(t, message, "the longest berth has 300 metres", "the message of Ready doesn't say what the desk says")
	e.restsWhile("the desk refuses the booking")
	e.resize("titan", 300)
	e.ready("titan")
}

// restsWhile wants few requests while something can't be done.
func (e *env) restsWhile(why string) {
	e.Helper()
	requests, took := e.during(3)
	assert.LessOrEqual(e, len(requests), 10+int(10*took), "a hot loop: %s, and meanwhile it sends %d requests in %.0f seconds", why, len(requests), took)
}

func TestADeletionCancelsTheBooking(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	phone := e.Book(desk.Booking{Reference: "by telephone", Ship: "Beagle", Metres: 27})
	e.start()
	first := e.create("eddy", 27)
	e.ready("eddy")
	e.delete("eddy")
	e.gone("eddy", first)
	second := e.create("eddy", 27)
	e.ready("eddy")
	assert.Equal(t, []string{"booked", "cancelled"}, e.Ledger(first))
	assert.Equal(t, []string{"booked"}, e.Ledger(second))
	assert.Equal(t, []desk.Booking{phone}, e.Bookings("by telephone"), "the booking of somebody else was changed")
}

// Once there may be a booking, a Mooring can't go without the program.
func TestTheFinalizerComesFirst(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var late atomic.Bool
	e.before(http.MethodPost, func(r *http.Request) {
		m, err := e.moorings.Get(r.Context(), "eddy", metav1.GetOptions{})
		late.Store(err != nil || len(m.GetFinalizers()) == 0)
	})
	e.start()
	e.create("eddy", 27)
	e.ready("eddy")
	assert.False(t, late.Load(), "it books before the Mooring has a finalizer: if the Mooring is deleted just then, the booking is forgotten")
}

func TestTheDeskIsDownDuringADeletion(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	reference := e.create("eddy", 27)
	e.ready("eddy")
	e.cause(isDown)
	e.delete("eddy")
	e.notReady("eddy", "the desk is down, so the booking can't be cancelled")
	e.restsWhile("the desk is down")
	require.NotNil(t, e.get("eddy"), "the Mooring is gone, although its booking was not cancelled")
	e.cause(nil)
	e.gone("eddy", reference)
	e.paidOnce(reference)
}

func TestTheBookingIsGoneAlready(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	reference := e.create("eddy", 27)
	e.ready("eddy")
	e.before(http.MethodDelete, func(*http.Request) { e.Edit(reference, 0) }) // a clerk is faster
	e.delete("eddy")
	e.gone("eddy", reference)
}

func TestTheDeskChangesABooking(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	reference := e.create("eddy", 27)
	e.ready("eddy")
	e.Edit(reference, 30)
	e.ready("eddy")
	e.Edit(reference, 0)
	e.ready("eddy")
	assert.Equal(t, []string{"booked", "changed", "booked"}, e.Ledger(reference), "what the program has done at the desk")
	e.Book(desk.Booking{Reference: reference, Ship: "Beagle", Metres: 27})
	e.ready("eddy")
}

func TestSomebodyChangesTheStatus(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	reference := e.create("eddy", 27)
	e.ready("eddy")
	for _, status := range []string{`{"number": "B4711", "berth": "Z-1"}`, `{"number": "", "conditions": []}`, `{"observedGeneration": 0}`} {
		e.patch("eddy", `{"status": `+status+`}`, "status")
		e.ready("eddy")
	}
	e.patch("eddy", `{"metadata": {"finalizers": null}}`)
	e.eventually(func() string {
		if len(e.get("eddy").Finalizers) == 0 {
			return "somebody removed the finalizer, and nobody puts it back"
		}
		return ""
	})
	e.paidOnce(reference)
}

func TestNothingHappensIfNothingChanges(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	e.create("eddy", 27)
	e.create("fastnet", 28)
	e.ready("eddy", "fastnet")
	e.isQuiet()
	e.stop(syscall.SIGTERM)
	began := len(e.all(0))
	e.start()
	e.isQuiet()
	assert.Zero(t, e.count(began, request.isWrite), "nothing has changed while it was down, but it writes after a start%s", e.printed())
}

// isQuiet wants two Moorings to be looked at once a second, and nothing else.
func (e *env) isQuiet() {
	e.Helper()
	began := len(e.all(0))
	e.eventually(func() string { // what is left to do is done
		if e.count(began, request.isLook) < 4 {
			return "it doesn't look every CHECK_SECONDS whether the desk still says the same"
		}
		return ""
	})
	requests, took := e.during(4)
	looks, reads := 0, 0
	for _, r := range requests {
		switch {
		case r.isWrite():
			assert.Fail(e, "nothing has changed, but it writes", "%s %s to the %s", r.verb, r.path, r.to)
		case r.to == "desk":
			looks++
		default:
			reads++
		}
	}
	most := int(4*took) + 4 // twice what is needed
	assert.LessOrEqual(e, looks, most, "it looks at the desk too often, in %.0f seconds", took)
	assert.LessOrEqual(e, reads, most, "it reads from the API server too often, in %.0f seconds; a watch tells it what changes", took)
}

func TestTheLimitIsKept(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.checkSeconds, e.maxLooks = 60, 500
	var names, references []string
	for i := range 25 {
		names = append(names, fmt.Sprintf("ship%d", i))
		references = append(references, e.create(names[i], 27))
	}
	e.Overload(4 * time.Second) // a slow program on a busy machine would not come to the limit by itself
	e.start()
	e.ready(names...)
	for _, reference := range references {
		e.paidOnce(reference)
	}
	const underWay = 4
	assert.LessOrEqual(t, e.TooEarly(), underWay, "the desk has answered 429 with Retry-After, and gets more calls before that time has passed")
}

func TestTheTokenIsReplaced(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	e.create("eddy", 27)
	e.ready("eddy")
	e.Rotate("buoy")
	e.resize("eddy", 28)
	e.notReady("eddy", "the desk refuses the token")
	e.restsWhile("the desk refuses the token")
	e.writeToken("buoy")
	e.ready("eddy")
}

func TestTheDeskFails(t *testing.T) {
	ofDesk := func(r request) bool { return r.to == "desk" }
	for name, test := range map[string]struct {
		fault
		is func(request) bool
	}{
		"it answers 500":                    {answers(500), ofDesk},
		"it answers 429":                    {answers(429), ofDesk},
		"the connection breaks before":      {breaks, ofDesk},
		"the answer is lost":                {loses, ofDesk},
		"it never answers what it has done": {hangs, func(r request) bool { return ofDesk(r) && r.isWrite() }},
		"it's slow":                         {slows, ofDesk},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.maxLooks = 30
			e.everySecond(test.fault, test.is)
			e.start()
			e.live()
		})
	}
}

func TestTheServerFails(t *testing.T) {
	for name, fault := range map[string]fault{
		"it answers 500":     answers(500),
		"it answers 409":     answers(409),
		"the answer is lost": loses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.maxLooks = 30
			e.everySecond(fault, func(r request) bool { return r.to == "server" && r.isWrite() })
			e.start()
			e.live()
		})
	}
}

// TestItIsKilledAtEachWrite counts the writes of a life. Then it lives that life once for each of them, and kills the
// program before it and after it.
func TestItIsKilledAtEachWrite(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	e.live()
	writes := e.count(0, request.isWrite)
	e.program.kill()
	require.Less(t, writes, 30, "a Mooring is created, changed and deleted: so many writes are not needed")
	for n := range writes {
		for when, afterwards := range map[string]bool{"before": false, "after": true} {
			t.Run(fmt.Sprintf("%s write %d", when, n+1), func(t *testing.T) {
				t.Parallel()
				e := newEnv(t)
				left := n
				e.cause(func(r request) fault {
					if !r.isWrite() {
						return nil
					}
					if left--; left == -1 {
						return e.kills(afterwards)
					}
					return nil
				})
				e.start()
				e.live()
			})
		}
	}
}

// A cache may be stale for as long as it likes: a look at the desk, and a read from the server, come before a booking.
func TestTheWatchIsLate(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	e.create("other", 27)
	e.ready("other")
	var thaw atomic.Value
	e.before(http.MethodPost, func(*http.Request) {
		if thaw.Load() == nil {
			thaw.Store(e.freeze())
		}
	})
	first := e.create("eddy", 27)
	e.eventually(func() string {
		if thaw.Load() == nil {
			return "it books nothing"
		}
		return ""
	})
	e.during(3)
	e.paidOnce(first)
	thaw.Load().(func())()
	e.ready("eddy")
	e.paidOnce(first)

	again := e.freeze()
	e.delete("eddy")
	e.Edit(first, 0)
	e.during(3)
	assert.Empty(t, e.Bookings(first), "it books for a Mooring that is being deleted: the watch hasn't told it yet, but the server would have")
	again()
	e.gone("eddy", first)
}

func TestTheWatchBreaks(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	references := map[string]string{}
	for _, name := range []string{"same", "changed", "deleted"} {
		references[name] = e.create(name, 27)
	}
	e.ready("same", "changed", "deleted")
	e.cut()
	e.resize("changed", 150)
	e.delete("deleted")
	e.create("created", 27)
	all, err := e.moorings.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	e.maxLooks = 60
	e.heal(all.GetResourceVersion())
	e.ready("same", "changed", "created")
	e.gone("deleted", references["deleted"])
	assert.Equal(t, []string{"booked"}, e.Ledger(references["same"]), "nothing has changed in the Mooring same")
}

func TestNothingSecretIsShown(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start()
	e.create("eddy", 27)
	e.ready("eddy")
	e.Rotate("buoy-4711")
	e.resize("eddy", 350)
	e.notReady("eddy", "the desk refuses the token")
	e.writeToken("buoy-4711")
	e.eventually(func() string {
		if !strings.Contains(e.get("eddy").readiness().Message, "300") {
			return "the desk refuses the booking, and Ready doesn't say so"
		}
		return ""
	})
	e.cause(isDown)
	e.delete("eddy")
	e.notReady("eddy", "the desk is down")

	shown := map[string]string{"the log": e.output.String()}
	list, err := e.moorings.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	events, err := e.cluster.Client.CoreV1().Events(e.space).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for where, what := range map[string]any{"a Mooring": list, "an event": events} {
		content, err := json.Marshal(what)
		require.NoError(t, err)
		shown[where] = string(content)
	}
	for where, text := range shown {
		for _, secret := range []string{e.token, "buoy-4711", e.serverToken} {
			assert.False(t, strings.Contains(text, secret), "a token is in %s", where)
		}
	}
}
