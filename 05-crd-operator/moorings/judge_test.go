// The judge of the exercise your-operator runs the program, or the one that the variable PROGRAM names, against an API
// server and a harbour desk. It plays the desk, and all that goes wrong.
//
//	judge_test.go  what the kind and the program have to do
//	env_test.go    the namespace, the program, and waiting
//	wire_test.go   the program's requests, and faults
//	office/desk    the desk
//
// The judge waits for a change until it's there, or until the program has looked at the desk so often that it must have
// seen the reason.
package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	moorings "example.com/hacking-a-controller/05-crd-operator/moorings"
	"example.com/hacking-a-controller/05-crd-operator/moorings/office/desk"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) {
	if os.Getenv("DESK_URL") != "" { // the judge has started this process, and it's the program
		moorings.Main()
		os.Exit(0)
	}
	_ = flag.Set("test.parallel", "12") // a test waits for its program most of the time
	testcluster.Main(m)
}

func TestTheSchemaRefusesNonsense(t *testing.T) {
	e := newEnv(t)
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}}
	for _, spec := range []string{`{"ship": "A", "metres": 1}`, fmt.Sprintf(`{"ship": %q, "metres": 400}`, strings.Repeat("a", 40))} {
		_, err := e.moorings.Create(t.Context(), object("good", spec), options)
		require.NoError(t, err, "the schema refuses %s", spec)
	}
	for name, spec := range map[string]string{
		"nothing":                 `{}`,
		"null":                    `null`,
		"no ship":                 `{"metres": 27}`,
		"a ship without a name":   `{"ship": "", "metres": 27}`,
		"a name that is too long": fmt.Sprintf(`{"ship": %q, "metres": 27}`, strings.Repeat("a", 41)),
		"a name that is a number": `{"ship": 27, "metres": 27}`,
		"no length":               `{"ship": "Beagle"}`,
		"a length of nothing":     `{"ship": "Beagle", "metres": 0}`,
		"a ship that is too long": `{"ship": "Beagle", "metres": 401}`,
		"half a metre":            `{"ship": "Beagle", "metres": 27.5}`,
		"a misspelt field":        `{"ship": "Beagle", "metres": 27, "meters": 27}`,
	} {
		_, err := e.moorings.Create(t.Context(), object("bad", spec), options)
		assert.True(t, apierrors.IsInvalid(err) || apierrors.IsBadRequest(err), "%s is accepted: %s (%v)", name, spec, err)
	}
}

func TestAShipIsNotExchanged(t *testing.T) {
	e := newEnv(t)
	e.create("eddy", 27)
	e.resize("eddy", 28)
	err := e.patch("eddy", `{"spec": {"ship": "Bounty"}}`)
	assert.True(t, apierrors.IsInvalid(err), "the ship of a Mooring was exchanged, but its booking is for one ship (%v)", err)
}

func TestTheStatusIsASubresource(t *testing.T) {
	e := newEnv(t)
	e.create("eddy", 27)
	const status = `{"status": {"number": "B1", "berth": "N-1", "observedGeneration": 1, "conditions": [
		{"type": "Ready", "status": "True", "reason": "Booked", "message": "for a test", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	require.NoError(t, e.patch("eddy", status), "the schema lacks a field of the status")
	assert.Empty(t, e.get("eddy").Status.Number, "a write of the spec writes the status, too: it isn't a subresource")
	require.NoError(t, e.patch("eddy", status, "status"), "the status can't be written")
	assert.Equal(t, "B1 Booked", e.get("eddy").Status.Number+" "+e.get("eddy").ready().Reason, "what the status keeps")
}

func TestItRunsUntilItIsStopped(t *testing.T) {
	e := newEnv(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		e.start()
		e.stop(signal)
	}
}

func TestAMooringIsBookedOnce(t *testing.T) {
	e := newEnv(t)
	phone := e.Book(desk.Booking{Reference: "by telephone", Ship: "Beagle", Metres: 27})
	before := e.create("before", 27)
	e.start()
	after := e.create("after", 300)
	e.isReady("before")
	e.isReady("after")
	e.isPaidOnce(before)
	e.isPaidOnce(after)
	assert.ElementsMatch(t, []string{before, after}, e.References(), "the references of all bookings")
	assert.Equal(t, []desk.Booking{phone}, e.Bookings("by telephone"), "the booking of somebody else was changed")
}

func TestAChangeReachesTheDesk(t *testing.T) {
	e, reference := newBooked(t)
	e.resize("eddy", 150)
	e.isReady("eddy")
	assert.Equal(t, []string{"booked", "changed"}, e.Ledger(reference), "what was done at the desk")
}

func TestARefusalIsShown(t *testing.T) {
	e := newEnv(t)
	e.checkSeconds = 60 // so it doesn't wait for that if the status can't be written at first
	e.cause(inTurn(func(r request) bool { return strings.HasSuffix(r.path, "/status") }, fails(500), nil))
	e.start()
	e.create("titan", 350)
	message := e.isNotReady("titan", "the desk refuses the booking")
	assert.Contains(t, message, "the longest berth has 300 metres", "the message of Ready doesn't say what the desk says")
	e.rests("the desk refuses the booking")
	e.resize("titan", 300)
	e.isReady("titan")
}

// rests wants few requests while something can't be done.
func (e *env) rests(because string) {
	e.Helper()
	requests, seconds := e.during()
	assert.LessOrEqual(e, len(requests), 10+int(10*seconds), "a hot loop: %s, and meanwhile it sends %d requests in %.0f seconds", because, len(requests), seconds)
}

func TestADeletionCancelsTheBooking(t *testing.T) {
	e, first := newBooked(t)
	e.delete("eddy")
	e.isGone("eddy", first)
	second := e.create("eddy", 27)
	e.isReady("eddy")
	assert.Equal(t, []string{"booked", "cancelled"}, e.Ledger(first))
	assert.Equal(t, []string{"booked"}, e.Ledger(second))
}

// Once there may be a booking, a Mooring can't go without the program.
func TestTheFinalizerComesFirst(t *testing.T) {
	e := newEnv(t)
	var late atomic.Bool
	e.before(request.isBooking, func() {
		m, err := e.moorings.Get(t.Context(), "eddy", metav1.GetOptions{})
		late.Store(err != nil || len(m.GetFinalizers()) == 0)
	})
	e.start()
	e.create("eddy", 27)
	e.isReady("eddy")
	assert.False(t, late.Load(), "it books before the Mooring has a finalizer: if the Mooring is deleted just then, the booking is forgotten")
}

// before does something before a request of a kind is served.
func (e *env) before(kind func(request) bool, do func()) {
	e.cause(inTurn(kind, func(w http.ResponseWriter, r *http.Request, serve http.Handler) {
		do()
		serve.ServeHTTP(w, r)
	}))
}

func TestTheDeskIsDownDuringADeletion(t *testing.T) {
	e, reference := newBooked(t)
	e.cause(inTurn(request.isCall, breaks))
	e.delete("eddy")
	e.isNotReady("eddy", "the desk is down, so the booking can't be cancelled")
	e.rests("the desk is down")
	require.NotNil(t, e.get("eddy"), "the Mooring is gone, although its booking was not cancelled")
	e.before(func(r request) bool { return r.verb == "DELETE" }, func() { e.Edit(reference, 0) }) // a clerk is faster: it's a 404
	e.isGone("eddy", reference)
	e.isPaidOnce(reference)
}

func TestTheDeskChangesABooking(t *testing.T) {
	e, reference := newBooked(t)
	e.Edit(reference, 30)
	e.isReady("eddy")
	e.Edit(reference, 0)
	e.isReady("eddy")
	assert.Equal(t, []string{"booked", "changed", "booked"}, e.Ledger(reference), "what the program has done at the desk")
	e.Book(desk.Booking{Reference: reference, Ship: "Beagle", Metres: 27})
	e.isReady("eddy")
}

func TestSomebodyChangesTheStatus(t *testing.T) {
	e, reference := newBooked(t)
	for _, status := range []string{`{"number": "B4711", "berth": "Z-1", "observedGeneration": 0}`, `{"number": null, "conditions": null}`} {
		require.NoError(t, e.patch("eddy", `{"status": `+status+`}`, "status"))
		e.isReady("eddy")
	}
	require.NoError(t, e.patch("eddy", `{"metadata": {"finalizers": null}}`))
	e.until("eddy", func(m *mooring) string {
		return unless(len(m.Finalizers) > 0, "somebody removed the finalizer, and nobody puts it back")
	})
	e.isPaidOnce(reference)
}

// Two Moorings are looked at once a second, and nothing else is done, also after a start.
func TestNothingHappensIfNothingChanges(t *testing.T) {
	e := newEnv(t)
	e.start()
	e.create("eddy", 27)
	e.create("fastnet", 28)
	e.isReady("eddy")
	e.isReady("fastnet")
	e.looksAgain(4) // what was left to do is done
	e.stop(syscall.SIGTERM)
	began := len(e.since(0))
	e.start()
	e.looksAgain(2)
	requests, seconds := e.during()
	assert.Empty(t, e.since(began, request.isWrite), "nothing has changed, but it writes")
	assert.LessOrEqual(t, len(requests), 4+int(4*seconds), "nothing changes, and it sends too many requests in %.0f seconds; a watch tells it what changes", seconds)
}

func (e *env) looksAgain(times int) {
	e.Helper()
	began := len(e.since(0))
	e.eventually(func() string {
		return unless(len(e.since(began, request.isLook)) >= times, "it doesn't look every CHECK_SECONDS whether the desk still says the same")
	})
}

func TestTheLimitIsKept(t *testing.T) {
	e := newEnv(t)
	e.checkSeconds, e.maxLooks = 60, 500
	references := map[string]string{}
	for i := range 10 {
		name := fmt.Sprint("ship", i)
		references[name] = e.create(name, 27)
	}
	e.Overload(3 * time.Second) // a slow program on a busy machine would not come to the limit by itself
	e.start()
	for name, reference := range references {
		e.isReady(name)
		e.isPaidOnce(reference)
	}
	const underWay = 4
	assert.LessOrEqual(t, e.TooEarly(), underWay, "the desk has answered 429 with Retry-After, and gets more calls before that time has passed")
}

func TestTheTokenIsReplaced(t *testing.T) {
	e, _ := newBooked(t)
	deliver := e.rotate()
	e.resize("eddy", 28)
	e.isNotReady("eddy", "the desk refuses the token")
	e.rests("the desk refuses the token")
	deliver()
	e.isReady("eddy")

	e.resize("eddy", 350)
	e.isNotReady("eddy", "the desk refuses the booking")
	list, err := e.moorings.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	events, err := e.cluster.Client.CoreV1().Events(e.space).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for where, what := range map[string]any{"a Mooring": list, "an event": events, "what it prints": e.output.String()} {
		shown, err := json.Marshal(what)
		require.NoError(t, err)
		for _, secret := range e.secrets {
			assert.NotContains(t, string(shown), secret, "a token is in %s", where)
		}
	}
}

func TestACallFails(t *testing.T) {
	toServer := func(r request) bool { return r.to == "server" && r.isWrite() }
	for name, test := range map[string]struct {
		kind func(request) bool
		fault
	}{
		"the desk answers 500":                {request.isCall, fails(500)},
		"the connection to the desk breaks":   {request.isCall, breaks},
		"an answer of the desk is lost":       {request.isCall, loses},
		"the desk books, and never answers":   {request.isBooking, hangs},
		"the API server answers 500":          {toServer, fails(500)},
		"the API server answers 409":          {toServer, fails(409)},
		"an answer of the API server is lost": {toServer, loses},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.maxLooks = 30
			e.cause(inTurn(test.kind, test.fault, nil))
			e.start()
			e.live()
		})
	}
}

// With a wrong DESK_URL, each call is answered 404, by somebody who isn't the desk.
func TestTheDeskIsNotFound(t *testing.T) {
	e, reference := newBooked(t)
	e.cause(inTurn(request.isCall, answers(404, "404 page not found")))
	e.resize("eddy", 150)
	e.isNotReady("eddy", "each call is answered 404")
	e.rests("each call is answered 404")
	e.delete("eddy")
	e.isNotReady("eddy", "each call is answered 404, so the booking can't be cancelled")
	require.NotNil(t, e.get("eddy"), "the Mooring is gone, although its booking was not cancelled")
	e.cause(nil)
	e.isGone("eddy", reference)
	e.isPaidOnce(reference)
}

// A user calls the desk when the reason says that the desk doesn't answer. So nothing else may have that reason.
func TestTheDeskIsNotBlamedForOthers(t *testing.T) {
	isLive := func(r request) bool { return r.to == "server" && !r.isWrite() && r.verb != "WATCH" }
	for why, fail := range map[string]func(*env){
		"the API server answers 403": func(e *env) { e.cause(inTurn(isLive, fails(403))) },
		"the file with the token is gone": func(e *env) {
			e.rotate() // or a program that still has it in memory might go on
			require.NoError(e, os.Remove(filepath.Join(e.dir, "token")))
		},
	} {
		t.Run(why, func(t *testing.T) {
			e := newEnv(t)
			e.start()
			e.cause(inTurn(request.isCall, breaks))
			first := e.create("first", 27)
			e.isNotReady("first", "the desk doesn't answer")
			e.looksAgain(2) // a program may say at first that it's on its way
			blames := e.get("first").ready().Reason
			e.cause(nil)
			e.delete("first")
			e.isGone("first", first)

			fail(e)
			began := len(e.since(0))
			reference := e.create("eddy", 27)
			e.eventually(func() string { // a program that reads each Mooring live can't report anything
				reported := e.get("eddy").ready().Status != "" || len(e.since(began, isLive)) > 2
				return unless(reported, "%s, but Mooring eddy has no condition Ready", why)
			})
			assert.NotEqual(t, blames, e.get("eddy").ready().Reason, "%s, but the reason of Ready is the one for a desk that doesn't answer", why)
			assert.Empty(t, e.Bookings(reference), "%s, and it books all the same", why)
		})
	}
}

// live lets all that happens to a Mooring happen to one.
func (e *env) live() {
	e.Helper()
	reference := e.create("eddy", 27)
	e.isReady("eddy")
	e.resize("eddy", 150)
	e.isReady("eddy")
	e.delete("eddy")
	e.isGone("eddy", reference)
	e.isPaidOnce(reference)
}

func TestItIsKilledAtEachWrite(t *testing.T) {
	e := newEnv(t)
	e.maxLooks = 60
	e.cause(inTurn(request.isWrite, e.killsBefore, e.killsAfter))
	e.start()
	e.live()
}

// A cache may be stale for as long as it likes: a read from the server comes before a booking.
func TestTheWatchIsLate(t *testing.T) {
	e, reference := newBooked(t)
	e.watches.Shut()
	e.delete("eddy")
	e.Edit(reference, 0)
	e.looksAgain(2)
	assert.Empty(t, e.Bookings(reference), "it books for a Mooring that is being deleted: the watch hasn't told it yet, but the server would have")
	e.watches.Open()
	e.isGone("eddy", reference)
}

func TestTheWatchBreaks(t *testing.T) {
	e := newEnv(t)
	e.maxLooks = 60
	e.start()
	deleted := e.create("deleted", 27)
	e.create("changed", 27)
	e.isReady("deleted")
	e.isReady("changed")
	e.cause(inTurn(func(r request) bool { return r.to == "server" }, breaks))
	e.server.CloseClientConnections()
	e.resize("changed", 150)
	e.delete("deleted")
	e.create("created", 27)
	e.cause(inTurn(func(r request) bool { return r.verb == "WATCH" }, expires, nil)) // the server has forgotten that time
	e.isReady("changed")
	e.isReady("created")
	e.isGone("deleted", deleted)
}
