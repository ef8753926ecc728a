package desk

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	testclock "k8s.io/utils/clock/testing"
)

// client calls a desk.
type client struct {
	*Desk
	clock *testclock.FakeClock
	token string
}

func newClient() *client {
	clock := testclock.NewFakeClock(time.Unix(0, 0))
	return &client{New(clock, "anchor"), clock, "anchor"}
}

// send returns the code, and what it answers.
func (c *client) send(method, path, body string) (int, string) {
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+c.token)
	answer := httptest.NewRecorder()
	c.ServeHTTP(answer, request)
	return answer.Code, strings.TrimSpace(answer.Body.String())
}

func (c *client) code(method, path, body string) int {
	code, _ := c.send(method, path, body)
	return code
}

const beagle = `{"reference": "1", "ship": "Beagle", "metres": 27}`

func TestALifeOfABooking(t *testing.T) {
	c := newClient()
	code, answer := c.send("GET", "/bookings?reference=1", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, "[]", answer)

	code, answer = c.send("POST", "/bookings", beagle)
	assert.Equal(t, 201, code)
	assert.JSONEq(t, `{"number": "B0001", "berth": "N-0001", "reference": "1", "ship": "Beagle", "metres": 27}`, answer)
	_, found := c.send("GET", "/bookings?reference=1", "")
	assert.JSONEq(t, "["+answer+"]", found)

	code, answer = c.send("PUT", "/bookings/B0001", `{"metres": 101}`)
	assert.Equal(t, 200, code)
	assert.JSONEq(t, `{"number": "B0001", "berth": "O-0001", "reference": "1", "ship": "Beagle", "metres": 101}`, answer)

	assert.Equal(t, 204, c.code("DELETE", "/bookings/B0001", ""))
	for _, method := range []string{"PUT", "DELETE"} {
		assert.Equal(t, 404, c.code(method, "/bookings/B0001", `{"metres": 1}`))
	}
	assert.Equal(t, []string{"booked", "changed", "cancelled"}, c.Ledger("1"))
	assert.Equal(t, []string{"1"}, c.References())
}

func TestEachPostIsOneMore(t *testing.T) {
	c := newClient()
	for range 2 {
		assert.Equal(t, 201, c.code("POST", "/bookings", beagle))
	}
	assert.Len(t, c.Bookings("1"), 2)
	assert.Equal(t, []string{"booked", "booked"}, c.Ledger("1"), "both are billed")
}

func TestWhatTheDeskRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":      "",
		"no reference": `{"ship": "Beagle", "metres": 27}`,
		"no ship":      `{"reference": "1", "metres": 27}`,
		"no length":    `{"reference": "1", "ship": "Beagle"}`,
		"too long":     `{"reference": "1", "ship": "Beagle", "metres": 301}`,
	} {
		c := newClient()
		code, answer := c.send("POST", "/bookings", body)
		assert.Equal(t, 422, code, name)
		var refusal struct{ Error string }
		require.NoError(t, json.Unmarshal([]byte(answer), &refusal), name)
		assert.NotEmpty(t, refusal.Error, name)
		assert.Empty(t, c.References(), name)
	}
	c := newClient()
	c.code("POST", "/bookings", beagle)
	code, answer := c.send("PUT", "/bookings/B0001", `{"metres": 301}`)
	assert.Equal(t, 422, code)
	assert.Contains(t, answer, "the longest berth has 300 metres")
}

func TestTheTokenIsReplaced(t *testing.T) {
	c := newClient()
	c.Rotate("buoy")
	code, answer := c.send("POST", "/bookings", beagle)
	assert.Equal(t, 401, code)
	assert.NotContains(t, answer, "anchor", "no answer has a token in it")
	c.token = "buoy"
	assert.Equal(t, 201, c.code("POST", "/bookings", beagle))
}

func TestTheLimit(t *testing.T) {
	c := newClient()
	look := func() int { return c.code("GET", "/bookings?reference=1", "") }
	for range Limit {
		assert.Equal(t, 200, look())
	}
	assert.Equal(t, 429, look())
	assert.Zero(t, c.TooEarly(), "it could not know")
	c.clock.Step(Window - 1)
	assert.Equal(t, 429, look())
	assert.Equal(t, 1, c.TooEarly())
	c.clock.Step(1)
	for range Limit {
		assert.Equal(t, 200, look(), "an early call closes it no longer")
	}
	c.clock.Step(Window)
	assert.Equal(t, 200, look(), "another window")
	assert.Equal(t, 1, c.TooEarly())
}

func TestTheLimitOfOneCall(t *testing.T) {
	c := newClient()
	c.Overload(5 * time.Second)
	c.clock.Step(Window + Window/2) // however late it comes
	answer := httptest.NewRecorder()
	request := httptest.NewRequest("GET", "/bookings?reference=1", nil)
	request.Header.Set("Authorization", "Bearer anchor")
	c.ServeHTTP(answer, request)
	assert.Equal(t, 429, answer.Code)
	assert.Equal(t, "5", answer.Header().Get("Retry-After"))
	c.clock.Step(5 * time.Second)
	assert.Equal(t, 200, c.code("GET", "/bookings?reference=1", ""))
}

func TestAClerk(t *testing.T) {
	c := newClient()
	booked := c.Book(Booking{Reference: "phone", Ship: "Beagle", Metres: 27})
	assert.Equal(t, []Booking{booked}, c.Bookings("phone"))
	assert.Empty(t, c.Ledger("phone"), "the ledger has what clients do")
	c.Edit("phone", 28)
	assert.Equal(t, 28, c.Bookings("phone")[0].Metres)
	c.Edit("phone", 0)
	assert.Empty(t, c.Bookings("phone"))
}
