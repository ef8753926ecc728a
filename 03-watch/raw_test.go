package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

const twoEvents = `{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"default","resourceVersion":"8"}}}
{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12"}}}
`

func TestDecodeEvents(t *testing.T) {
	tests := map[string]struct {
		stream string
		events []string
		err    string
	}{
		"an orderly end":              {twoEvents, []string{"ADDED a@8", "BOOKMARK @12"}, "EOF"},
		"an end within an event":      {twoEvents + `{"type":"MODIF`, []string{"ADDED a@8", "BOOKMARK @12"}, "unexpected EOF"},
		"an end before the first one": {"", nil, "EOF"},
		"two events in one line":      {strings.ReplaceAll(twoEvents, "\n", ""), []string{"ADDED a@8", "BOOKMARK @12"}, "EOF"},
		"what is not JSON":            {"<html>", nil, "invalid character '<' looking for beginning of value"},
		"an object of another form": {`{"type":"ADDED","object":["a"]}`, nil,
			"decoding a ADDED event: json: cannot unmarshal array into Go value of type v1.Pod"},
		"an ERROR holds a Status": {`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}`,
			[]string{"ERROR too old"}, "EOF"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			events, errs := decodeEvents(t.Context(), strings.NewReader(tc.stream))
			var got []string
			for event := range events {
				got = append(got, describe(event))
			}
			assert.Equal(t, tc.events, got)
			require.EqualError(t, <-errs, tc.err)
		})
	}
}

func describe(event watch.Event) string {
	if status, ok := event.Object.(*metav1.Status); ok {
		return fmt.Sprintf("%s %s", event.Type, status.Message)
	}
	pod := event.Object.(*corev1.Pod)
	return fmt.Sprintf("%s %s@%s", event.Type, pod.Name, pod.ResourceVersion)
}

func TestDecodeEventsEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	events, errs := decodeEvents(ctx, strings.NewReader(twoEvents))
	cancel() // nobody reads the events
	require.ErrorIs(t, <-errs, context.Canceled)
	for range events {
		continue // one may have been on its way; the channel must be closed
	}
}

// rawAgainst returns a source that talks to the handler, and the wire.
func rawAgainst(t *testing.T, namespace, selector string, handler http.HandlerFunc) (*rawSource, *bytes.Buffer, *[]string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	var wire bytes.Buffer
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	source, err := newRawSource(&rest.Config{Host: server.URL, BearerToken: "secret"}, namespace, selector, &wire, note)
	require.NoError(t, err)
	return source, &wire, &notes
}

func watchOptions() metav1.ListOptions {
	seconds := int64(300)
	return metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: &seconds}
}

func TestRawRequests(t *testing.T) {
	var requests []*url.URL
	answer := func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL)
		assert.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		if r.URL.Query().Has("watch") {
			fmt.Fprint(w, twoEvents)
			return
		}
		fmt.Fprint(w, `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}}]}`)
	}
	source, wire, notes := rawAgainst(t, "default", "app=demo", answer)

	list, err := source.ListWithContext(t.Context(), metav1.ListOptions{Limit: 500, Continue: "more"})
	require.NoError(t, err)
	assert.Equal(t, "7", list.(*corev1.PodList).ResourceVersion)
	assert.Equal(t, "a", list.(*corev1.PodList).Items[0].Name)

	stream, err := source.WatchWithContext(t.Context(), watchOptions())
	require.NoError(t, err)
	assert.Equal(t, "ADDED a@8", describe(<-stream.ResultChan()))
	assert.Equal(t, "BOOKMARK @12", describe(<-stream.ResultChan()))
	_, open := <-stream.ResultChan()
	assert.False(t, open)
	stream.Stop()
	assert.Empty(t, *notes, "an orderly end is not noted")

	require.Len(t, requests, 2)
	assert.Equal(t, "/api/v1/namespaces/default/pods?continue=more&labelSelector=app%3Ddemo&limit=500", requests[0].String())
	assert.Equal(t, "/api/v1/namespaces/default/pods?allowWatchBookmarks=true&labelSelector=app%3Ddemo&resourceVersion=7&timeoutSeconds=300&watch=true", requests[1].String())

	assert.Equal(t, "> GET "+requests[0].String()+"\n< HTTP/1.1 200 OK\n"+
		`{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}}]}`+
		"> GET "+requests[1].String()+"\n< HTTP/1.1 200 OK\n"+twoEvents, wire.String())
	assert.NotContains(t, wire.String(), "secret")
}

func TestRawPathOfAllNamespacesBehindAPrefix(t *testing.T) {
	source, err := newRawSource(&rest.Config{Host: "https://example.com/clusters/one"}, "", "", io.Discard, t.Logf)
	require.NoError(t, err)
	assert.Equal(t, "https://example.com/clusters/one/api/v1/pods", source.pods.String())
}

// sent is a refusal as a server sends it.
func sent(err *apierrors.StatusError) metav1.Status {
	status := err.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	return status
}

func TestRawRefusals(t *testing.T) {
	tests := map[string]struct {
		code  int
		body  any
		check func(error) bool
		want  string
	}{
		"a Status": {http.StatusForbidden, sent(errForbidden), apierrors.IsForbidden, `pods is forbidden: no role`},
		"410":      {http.StatusGone, sent(errExpired), apierrors.IsResourceExpired, "too old"},
		"no Status, as from a proxy that stands before the server": {http.StatusBadGateway, "bad gateway", nil,
			"the server answered 502 Bad Gateway"},
		"no Status, but JSON, too": {http.StatusBadGateway, map[string]string{"error": "upstream"}, nil,
			"the server answered 502 Bad Gateway"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			source, _, _ := rawAgainst(t, "", "", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				assert.NoError(t, json.NewEncoder(w).Encode(tc.body))
			})
			_, listErr := source.ListWithContext(t.Context(), metav1.ListOptions{})
			_, watchErr := source.WatchWithContext(t.Context(), watchOptions())
			for _, err := range []error{listErr, watchErr} {
				require.EqualError(t, err, tc.want)
				assert.True(t, tc.check == nil || tc.check(err))
			}
		})
	}
}

func TestABrokenStreamIsNoted(t *testing.T) {
	source, _, notes := rawAgainst(t, "", "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100") // and sends less
		fmt.Fprint(w, `{"type":"ADD`)
	})
	stream, err := source.WatchWithContext(t.Context(), watchOptions())
	require.NoError(t, err)
	_, open := <-stream.ResultChan()
	assert.False(t, open)
	stream.Stop()
	assert.Equal(t, []string{"the stream broke off (unexpected EOF)"}, *notes)
}

func TestStopEndsTheRequestAndIsSilent(t *testing.T) {
	ended := make(chan struct{})
	source, _, notes := rawAgainst(t, "", "", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	})
	stream, err := source.WatchWithContext(t.Context(), watchOptions())
	require.NoError(t, err)
	stream.Stop()
	<-ended
	assert.Empty(t, *notes)
}

func TestAListThatIsNotJSON(t *testing.T) {
	source, _, _ := rawAgainst(t, "", "", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })
	_, err := source.ListWithContext(t.Context(), metav1.ListOptions{})
	require.EqualError(t, err, "decoding the list: invalid character '<' looking for beginning of value")
}
