//go:build try

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
)

// What the lesson on the office asks the reader to write. Until then, these tests fail.

func TestTryWhatIsPaidForIsLogged(t *testing.T) {
	s := newShore(t)
	require.NoError(t, s.register())
	require.Equal(t, 1, s.bills("registered"))
	require.Contains(t, s.logged.String(), `"msg"="registered" "token"="1"`, "it has spent 120, and its log doesn't say so")

	s.logged.Reset()
	require.NoError(t, s.register()) // it looks the registration up
	assert.NotContains(t, s.logged.String(), "registered", "it has looked the registration up, which costs nothing")

	s.list.Edit("1", "", "") // a clerk strikes it off
	s.next("", lightlist.TooMany)
	require.ErrorContains(t, s.register(), "OfficeBusy")
	assert.NotContains(t, s.logged.String(), "registered", "the office has refused, so nothing was registered")
}

func TestTryTheOfficeKnowsWhoCalls(t *testing.T) {
	s := newShore(t)
	agent := ""
	s.before = func(r *http.Request) { agent = r.UserAgent() }
	require.NoError(t, s.register())
	assert.Equal(t, "lighthouse-operator", agent, "the office's log has Go's default, or nothing, and can't tell who calls too often")
}

func TestTryRetryAfterMayBeADate(t *testing.T) {
	start := time.Unix(0, 0)
	for header, want := range map[string]time.Duration{
		"90": 90 * time.Second,
		start.Add(time.Hour).UTC().Format(http.TimeFormat):    time.Hour,
		start.Add(-time.Minute).UTC().Format(http.TimeFormat): 0,
		"soon": 0,
		"":     0,
	} {
		s := newShore(t)
		s.answers(http.StatusTooManyRequests, header, strings.NewReader(""))
		_, err := s.office.lookUp(t.Context(), "trinity", "1")
		refused := &refusal{}
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, want, refused.after, "Retry-After: %s", header)
		assert.Equal(t, want, s.office.wait("another", ""), "Retry-After: %s, and another Lighthouse calls", header)
	}
}

// endless is an answer that goes on and on, up to a limit at which the test gives up.
type endless struct{ read int }

const much = 16 << 20

func (e *endless) Read(into []byte) (int, error) {
	if e.read > much {
		return 0, io.EOF
	}
	for i := range into {
		into[i] = ' '
	}
	e.read += len(into)
	return len(into), nil
}

func TestTryAnAnswerHasALimit(t *testing.T) {
	s := newShore(t)
	body := &endless{}
	s.answers(http.StatusOK, "", body)
	_, err := s.office.lookUp(t.Context(), "trinity", "1")
	require.Error(t, err, "half an answer is none")
	assert.Less(t, body.read, much, "it reads as much as the office sends")
}
