//go:build try

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// What the lesson asks the reader to write. Until then, these tests fail.

// twoNamespaces is a chunk of a list, with a continue token or without one.
func twoNamespaces(token string) string {
	return fmt.Sprintf(`{"kind": "NamespaceList", "apiVersion": "v1", "metadata": {"continue": %q}, "items": [
		{"metadata": {"name": "bell"}, "status": {"phase": "Active"}}, {"metadata": {"name": "buoy"}, "status": {"phase": "Terminating"}}]}`, token)
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// try runs the program with a server that answers once, and returns the request.
func try(t *testing.T, code int, answer string) (request *http.Request, out string, err error) {
	t.Helper()
	var printed bytes.Buffer
	config := &rest.Config{Transport: transport(func(r *http.Request) (*http.Response, error) {
		request = r
		return &http.Response{
			StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)),
		}, nil
	})}
	err = run(t.Context(), config, &printed)
	require.NotNil(t, request, "the program sends a request")
	require.Zero(t, config.Timeout, "a deadline belongs in the context: the Timeout of rest.Config would end each watch, too")
	return request, printed.String(), err
}

func TestTryThePhaseIsPrinted(t *testing.T) {
	_, out, err := try(t, http.StatusOK, twoNamespaces(""))
	require.NoError(t, err)
	require.Equal(t, "bell Active\nbuoy Terminating\n", out, "the name and the phase, with a space between")
}

func TestTryTheRequestHasADeadline(t *testing.T) {
	begin := time.Now()
	request, _, _ := try(t, http.StatusOK, twoNamespaces(""))
	deadline, found := request.Context().Deadline()
	if !found {
		require.Fail(t, "the context of the request has no deadline")
	}
	require.InDelta(t, 10, deadline.Sub(begin).Seconds(), 5, "the seconds until the deadline")
}

func TestTryA403NamesWhatHelps(t *testing.T) {
	const help, forbidden = "; ask an administrator for that verb on that resource", `namespaces is forbidden: User "reader" cannot list resource "namespaces"`
	list := func(code int, reason metav1.StatusReason, message string) error {
		_, _, err := try(t, code, fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": %q}`, code, reason, message))
		require.Error(t, err)
		return err
	}
	err := list(http.StatusForbidden, metav1.StatusReasonForbidden, forbidden)
	require.ErrorContains(t, err, help, "what helps after a 403")
	assert.ErrorContains(t, err, forbidden, "the error itself stays")
	assert.NotContains(t, list(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized").Error(), help, "that doesn't help after a 401")
	assert.NotContains(t, list(http.StatusInternalServerError, metav1.StatusReasonInternalError, "Forbidden: "+forbidden).Error(), help, "only the code says that it's a 403, and this one has the code 500")
}

func TestTryMoreIsPrinted(t *testing.T) {
	request, out, err := try(t, http.StatusOK, twoNamespaces("the rest"))
	require.NoError(t, err)
	assert.Equal(t, "2", request.URL.Query().Get("limit"), "the limit of the request")
	require.Equal(t, "bell Active\nbuoy Terminating\n... there is more\n", out, "the last line after a continue token")
	_, out, _ = try(t, http.StatusOK, twoNamespaces(""))
	assert.NotContains(t, out, "more", "no token, no rest")
}
