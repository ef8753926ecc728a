package lightlist

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is an office that a test calls.
type desk struct {
	*testing.T
	*Office
	clock  *testclock.FakeClock
	server *httptest.Server
	bearer string
}

func newDesk(t *testing.T) *desk {
	clock := testclock.NewFakeClock(time.Unix(0, 0))
	office := New(clock, Settings{Bearer: "trinity", Takes: metav1.Duration{Duration: 3 * time.Second}})
	server := httptest.NewServer(office)
	t.Cleanup(server.Close)
	t.Cleanup(server.Client().CloseIdleConnections)
	return &desk{t, office, clock, server, "trinity"}
}

// reply is what came back. Its code is 0 if nothing did.
type reply struct {
	code  int
	after string // Retry-After
	light Light
}

func (d *desk) send(ctx context.Context, method, path, body string) reply {
	d.Helper()
	request, err := http.NewRequestWithContext(ctx, method, d.server.URL+path, strings.NewReader(body))
	require.NoError(d, err)
	request.Header.Set("Authorization", "Bearer "+d.bearer)
	if method == "POST" {
		request.GetBody = nil // Go repeats what it can when a connection breaks, but no POST
	}
	response, err := d.server.Client().Do(request)
	if err != nil {
		return reply{}
	}
	defer response.Body.Close()
	r := reply{code: response.StatusCode, after: response.Header.Get("Retry-After")}
	_ = json.NewDecoder(response.Body).Decode(&r.light)
	return r
}

const eddystone = `{"token": "1", "position": "50.18N 4.27W", "character": "short short"}`

func (d *desk) register() reply { return d.send(d.Context(), "POST", "/lights", eddystone) }
func (d *desk) lookUp() reply   { return d.send(d.Context(), "GET", "/lights/1", "") }
func (d *desk) withdraw() reply { return d.send(d.Context(), "DELETE", "/lights/1", "") }

// fees is what the ledger says so far.
func (d *desk) fees() (fees int) {
	_, ledger := d.Books()
	for _, entry := range ledger {
		fees += entry.Fee
	}
	return fees
}

func (d *desk) next(faults ...Fault) { d.Set(func(s *Settings) { s.Next = faults }) }

func TestALightHasItsNumberAfterSomeSeconds(t *testing.T) {
	d := newDesk(t)
	assert.Equal(t, 404, d.lookUp().code)
	first := d.register()
	assert.Equal(t, reply{202, "3", Light{Token: "1", Position: "50.18N 4.27W", Character: "short short"}}, first)
	d.clock.Step(2500 * time.Millisecond)
	assert.Equal(t, reply{200, "1", first.light}, d.lookUp(), "seconds are rounded up")
	d.clock.Step(500 * time.Millisecond)
	assert.Equal(t, reply{200, "", Light{"1", "50.18N 4.27W", "short short", "A0001", time.Time{}}}, d.lookUp())

	changed := d.send(t.Context(), "PUT", "/lights/1", `{"position": "50.2N 4.3W", "character": "long"}`)
	assert.Equal(t, reply{200, "", Light{"1", "50.2N 4.3W", "long", "A0001", time.Time{}}}, changed)
	assert.Equal(t, changed, d.lookUp())
	assert.Equal(t, Fee, d.fees(), "a change costs nothing")
	assert.Equal(t, 204, d.withdraw().code)
	assert.Equal(t, 404, d.withdraw().code)
	assert.Equal(t, 404, d.send(t.Context(), "PUT", "/lights/1", eddystone).code)
}

func TestATokenIsGoodForOneLight(t *testing.T) {
	d := newDesk(t)
	assert.Equal(t, 202, d.register().code)
	assert.Equal(t, 200, d.register().code, "the answer may have been lost")
	assert.Equal(t, 409, d.send(t.Context(), "POST", "/lights", `{"token": "1", "position": "here", "character": "long"}`).code)
	assert.Equal(t, Fee, d.fees())
	d.clock.Step(KeyLife)
	assert.Equal(t, 202, d.register().code, "who comes so late and doesn't look up first pays twice")
	assert.Equal(t, 2*Fee, d.fees())
	d.Set(func(s *Settings) { s.Forgets.Duration = time.Second })
	assert.Equal(t, 200, d.register().code)
	d.clock.Step(time.Second)
	assert.Equal(t, 202, d.register().code, "another office forgets sooner")

	assert.Equal(t, 204, d.withdraw().code)
	assert.Equal(t, 404, d.lookUp().code, "both are gone")
	assert.Equal(t, 410, d.register().code, "a registration that was on its way comes too late")
	assert.Equal(t, 404, d.send(t.Context(), "DELETE", "/lights/2", "").code)
	assert.Equal(t, 410, d.send(t.Context(), "POST", "/lights", strings.Replace(eddystone, "1", "2", 1)).code, "even if it comes first")
}

func TestWhatTheOfficeRefuses(t *testing.T) {
	d := newDesk(t)
	for name, body := range map[string]string{
		"nothing": "", "no JSON": "eddystone", "no token": `{"position": "here", "character": "long"}`,
		"no position": `{"token": "1", "character": "long"}`, "no character": `{"token": "1", "position": "here"}`,
	} {
		assert.Equal(t, 422, d.send(t.Context(), "POST", "/lights", body).code, name)
	}
	d.Rotate("ulysses")
	assert.Equal(t, 401, d.register().code)
	d.bearer = "ulysses"
	assert.Equal(t, 202, d.register().code)
	d.Rotate("ajax")
	for _, r := range []reply{d.lookUp(), d.withdraw(), d.register()} {
		assert.Equal(t, 401, r.code, "the token was rotated")
	}
}

// Rotate replaces the bearer token.
func (d *desk) Rotate(bearer string) { d.Set(func(s *Settings) { s.Bearer = bearer }) }

func TestFaults(t *testing.T) {
	for fault, want := range map[Fault]struct {
		reply reply
		fees  int
	}{
		TooMany: {reply{code: 429, after: "7"}, 0},
		Broken:  {reply{code: 500}, 0},
		Drop:    {reply{}, 0},
		Lose:    {reply{}, Fee},
	} {
		d := newDesk(t)
		d.next(fault)
		assert.Equal(t, want.reply, d.register(), fault)
		assert.Equal(t, want.fees, d.fees(), fault)
		assert.Contains(t, []int{200, 202}, d.register().code, "only one call has the fault")
		assert.Equal(t, Fee, d.fees(), "a client that tries again with its token pays once")
	}
}

func TestACallThatHangsEndsWithItsClient(t *testing.T) {
	for fault, fees := range map[Fault]int{Hang: 0, Late: Fee} {
		d := newDesk(t)
		d.next(fault)
		ctx, hangUp := context.WithCancel(t.Context())
		replied := make(chan reply)
		go func() { replied <- d.send(ctx, "POST", "/lights", eddystone) }()
		require.Eventually(t, func() bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return len(d.settings.Next) == 0 && (fees == 0 || len(d.ledger) > 0)
		}, time.Minute, time.Millisecond)
		select {
		case <-replied:
			t.Error("it was answered")
		default:
		}
		hangUp()
		assert.Equal(t, reply{}, <-replied)
		assert.Equal(t, fees, d.fees(), fault)
	}
}

func TestTheOfficeIsDownOrSlowOrHasALimit(t *testing.T) {
	d := newDesk(t)
	d.Set(func(s *Settings) { s.Down = true })
	assert.Equal(t, reply{}, d.register())
	d.Set(func(s *Settings) { *s = Settings{Bearer: "trinity", Limit: 2} })
	d.clock.Step(time.Minute)
	assert.Equal(t, 202, d.register().code)
	d.clock.Step(20 * time.Second)
	assert.Equal(t, 200, d.lookUp().code)
	assert.Equal(t, reply{code: 429, after: "40"}, d.lookUp())
	d.clock.Step(40 * time.Second)
	assert.Equal(t, 200, d.lookUp().code, "another minute")

	before := d.clock.Now()
	d.Set(func(s *Settings) { s.Latency.Duration = 2 * time.Second })
	assert.Equal(t, 200, d.lookUp().code)
	assert.Equal(t, 2*time.Second, d.clock.Since(before), "to sleep steps a fake clock")
}

func TestAClerk(t *testing.T) {
	d := newDesk(t)
	d.register()
	d.Edit("1", "elsewhere", "long")
	assert.Equal(t, "elsewhere", d.lookUp().light.Position)
	d.Edit("1", "", "")
	assert.Equal(t, 404, d.lookUp().code)
	assert.Equal(t, 202, d.register().code, "the client didn't withdraw it")
}

func TestALessonChangesTheOfficeByHTTP(t *testing.T) {
	d := newDesk(t)
	d.bearer = "" // none is needed
	d.send(t.Context(), "PUT", "/admin/settings", `{"next": ["lose"], "takes": "1h", "limit": 9}`)
	assert.Equal(t, 400, d.send(t.Context(), "PUT", "/admin/settings", `{"down": true, "takes": 7}`).code)
	assert.Equal(t, Settings{Bearer: "trinity", Next: []Fault{Lose}, Takes: metav1.Duration{Duration: time.Hour}, Limit: 9}, d.settings, "what isn't sent stays")
	d.bearer = "trinity"
	assert.Equal(t, reply{}, d.register())
	d.send(t.Context(), "PUT", "/admin/lights/1?position=elsewhere&character=long", "")
	assert.Equal(t, "elsewhere", d.lookUp().light.Position)

	response, err := d.server.Client().Get(d.server.URL + "/admin/books")
	require.NoError(t, err)
	defer response.Body.Close()
	var books struct{ Lights, Ledger []map[string]any }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&books))
	assert.Equal(t, []map[string]any{{"token": "1", "position": "elsewhere", "character": "long", "number": "A0001"}}, books.Lights)
	require.Len(t, books.Ledger, 1)
	delete(books.Ledger[0], "time")
	assert.Equal(t, map[string]any{"what": "registered", "token": "1", "fee": 120.0}, books.Ledger[0])
}
