//go:build try

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// What the lesson asks the reader to write. Until then, these tests fail.

const twoNamespaces = `{"kind": "NamespaceList", "apiVersion": "v1", "metadata": {"continue": "the rest"}, "items": [
	{"metadata": {"name": "bell"}, "status": {"phase": "Active"}}, {"metadata": {"name": "buoy"}, "status": {"phase": "Terminating"}}]}`

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
	return request, printed.String(), err
}

func TestTryThePhaseIsPrinted(t *testing.T) {
	_, out, err := try(t, http.StatusOK, twoNamespaces)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, "bell Active\nbuoy Terminating\n"), "the name and the phase, with a space between: %s", out)
}

func TestTryTheRequestHasADeadline(t *testing.T) {
	request, _, _ := try(t, http.StatusOK, twoNamespaces)
	_, found := request.Context().Deadline()
	require.True(t, found, "the context of the request has a deadline")
}

func TestTryA403NamesWhatHelps(t *testing.T) {
	const status = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": %[2]q}`
	_, _, err := try(t, http.StatusForbidden, fmt.Sprintf(status, 403, "Forbidden"))
	require.ErrorContains(t, err, "ask an administrator", "what helps after a 403")
	_, _, err = try(t, http.StatusUnauthorized, fmt.Sprintf(status, 401, "Unauthorized"))
	assert.NotContains(t, err.Error(), "ask an administrator", "that doesn't help after a 401")
}

func TestTryMoreIsPrinted(t *testing.T) {
	request, out, err := try(t, http.StatusOK, twoNamespaces)
	require.NoError(t, err)
	assert.Equal(t, "2", request.URL.Query().Get("limit"), "the limit of the request")
	require.True(t, strings.HasSuffix(out, "\n... there is more\n"), "the last line after a continue token: %s", out)
	_, out, _ = try(t, http.StatusOK, strings.Replace(twoNamespaces, "the rest", "", 1))
	assert.NotContains(t, out, "more", "no token, no rest")
}
