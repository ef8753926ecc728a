package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

const twoEvents = `{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"bell","namespace":"default","resourceVersion":"8"}}}
{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12"}}}
`

func TestDecodeEvents(t *testing.T) {
	tests := map[string]struct {
		stream string
		want   []string
	}{
		"an orderly end":            {twoEvents, []string{"ADDED bell@8", "BOOKMARK @12"}},
		"an end within an event":    {twoEvents + `{"type":"MODIF`, []string{"ADDED bell@8", "BOOKMARK @12"}},
		"what isn't JSON":           {"<html>", nil},
		"an object of another form": {`{"type":"ADDED","object":["bell"]}`, nil},
		"an ERROR holds a Status":   {`{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}`, []string{"ERROR too old"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for event := range decodeEvents(t.Context(), io.NopCloser(strings.NewReader(tc.stream))) {
				got = append(got, describe(event))
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func describe(event watch.Event) string {
	if status, ok := event.Object.(*metav1.Status); ok {
		return fmt.Sprintf("%s %s", event.Type, status.Message)
	}
	return inWords([]change{{event.Type, event.Object.(*corev1.Pod)}})[0]
}

func TestStopEndsTheRequestThoughNothingReadsItsEvents(t *testing.T) {
	ended := make(chan struct{})
	pods, _ := rawPodsOf(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, twoEvents)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	})
	stream, err := pods.Watch(t.Context(), fromVersion7())
	require.NoError(t, err)
	stream.Stop()
	<-ended
}

// rawPodsOf are those of a server, and what they print.
func rawPodsOf(t *testing.T, server http.HandlerFunc) (*rawPods, *strings.Builder) {
	t.Helper()
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	var out strings.Builder
	pods, err := newRawPods(&rest.Config{Host: s.URL, BearerToken: "secret"}, &out)
	require.NoError(t, err)
	return pods, &out
}

func fromVersion7() metav1.ListOptions {
	return metav1.ListOptions{ResourceVersion: "7", LabelSelector: "run=bell", AllowWatchBookmarks: true, TimeoutSeconds: new(int64(300))}
}

func TestTheTwoRequests(t *testing.T) {
	pods, out := rawPodsOf(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		if r.URL.Query().Has("watch") {
			fmt.Fprint(w, twoEvents)
			return
		}
		fmt.Fprint(w, `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"bell"}}]}`)
	})
	list, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: "run=bell"})
	require.NoError(t, err)
	assert.Equal(t, "7", list.ResourceVersion)
	assert.Equal(t, "bell", list.Items[0].Name)

	stream, err := pods.Watch(t.Context(), fromVersion7())
	require.NoError(t, err)
	assert.Equal(t, "ADDED bell@8", describe(<-stream.ResultChan()))
	assert.Equal(t, "BOOKMARK @12", describe(<-stream.ResultChan()))
	_, open := <-stream.ResultChan()
	assert.False(t, open)
	stream.Stop()

	assert.Equal(t, `> GET /api/v1/pods?labelSelector=run%3Dbell&resourceVersion=
< HTTP/1.1 200 OK
> GET /api/v1/pods?allowWatchBookmarks=true&labelSelector=run%3Dbell&resourceVersion=7&timeoutSeconds=300&watch=true
< HTTP/1.1 200 OK
`, out.String())
}

func TestAServerBehindAPathOfItsOwn(t *testing.T) {
	pods, err := newRawPods(&rest.Config{Host: "https://example.com/clusters/one"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "https://example.com/clusters/one/api/v1/pods", pods.url.String())
}

func TestAnswersThatAreNoList(t *testing.T) {
	status := errExpired.Status()
	status.Kind = "Status"
	tests := map[string]struct {
		code  int
		body  any
		check func(error) bool
		want  string
	}{
		"a Status":                    {http.StatusGone, status, apierrors.IsResourceExpired, "too old"},
		"a page of a proxy":           {http.StatusBadGateway, "bad gateway", nil, "the server answered 502 Bad Gateway"},
		"JSON of a proxy":             {http.StatusBadGateway, map[string]string{"error": "upstream"}, nil, "the server answered 502 Bad Gateway"},
		"what is neither, with a 200": {http.StatusOK, "hello", nil, "decoding the list: json: cannot unmarshal string into Go value of type v1.PodList"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods, _ := rawPodsOf(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				assert.NoError(t, json.NewEncoder(w).Encode(tc.body))
			})
			_, err := pods.List(t.Context(), metav1.ListOptions{})
			require.EqualError(t, err, tc.want)
			assert.True(t, tc.check == nil || tc.check(err))
			if tc.code != http.StatusOK {
				_, err = pods.Watch(t.Context(), fromVersion7())
				require.EqualError(t, err, tc.want)
			}
		})
	}
}
