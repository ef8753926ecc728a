package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// withoutSky is a server that knows pods, and whose API sky/v1 is down.
func withoutSky(t *testing.T) *rest.Config {
	t.Helper()
	sky := metav1.GroupVersionForDiscovery{GroupVersion: "sky/v1", Version: "v1"}
	answers := map[string]any{
		"/api":    metav1.APIVersions{Versions: []string{"v1"}},
		"/apis":   metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "sky", Versions: []metav1.GroupVersionForDiscovery{sky}, PreferredVersion: sky}}},
		"/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", SingularName: "pod", Kind: "Pod", Namespaced: true, Verbs: []string{"list", "watch"}}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			http.Error(w, "nobody serves it", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // fails only when the client has gone
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1}
}

func TestATypeWhoseAPIIsDownIsUnavailable(t *testing.T) {
	mapper, err := newMapper(t.Context(), withoutSky(t))
	require.NoError(t, err)
	mapping, err := mappingFor(t.Context(), mapper, "pods")
	require.NoError(t, err, "the others are there")
	require.Equal(t, "pods", mapping.Resource.Resource)

	for _, name := range []string{"moons", "moons.sky", "moons.v1.sky"} {
		_, err = mappingFor(t.Context(), mapper, name)
		require.EqualError(t, err, "the server does not have a resource type \""+name+"\"; kubectl api-resources lists those that it has; but of sky/v1 there was no answer, so its types are unavailable, not unknown: kubectl get apiservices says why")
	}
}
