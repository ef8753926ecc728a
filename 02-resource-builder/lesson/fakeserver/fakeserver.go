// Package fakeserver stands in for the API server in tests: it knows namespaces, pods, nodes and boats, and a test
// says what it answers to anything but discovery.
package fakeserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Start starts a server, and returns its address. No kubeconfig and no discovery cache of this machine reach the
// test.
func Start(t testing.TB, answer http.HandlerFunc) (address string) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBECACHEDIR", t.TempDir())
	mux := http.NewServeMux()
	serve := func(path string, object any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { Write(w, http.StatusOK, object) })
	}
	harbour := metav1.GroupVersionForDiscovery{GroupVersion: "harbour.example.com/v1", Version: "v1"}
	serve("/api", metav1.APIVersions{Versions: []string{"v1"}})
	serve("/apis", metav1.APIGroupList{Groups: []metav1.APIGroup{
		{Name: "harbour.example.com", Versions: []metav1.GroupVersionForDiscovery{harbour}, PreferredVersion: harbour},
	}})
	serve("/api/v1", metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
		resource("Namespace", "ns", false), resource("Node", "no", false), resource("Pod", "po", true),
	}})
	serve("/apis/"+harbour.GroupVersion, metav1.APIResourceList{GroupVersion: harbour.GroupVersion, APIResources: []metav1.APIResource{
		resource("Boat", "bo", true),
	}})
	mux.HandleFunc("/", answer)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func resource(kind, short string, namespaced bool) metav1.APIResource {
	name := strings.ToLower(kind)
	return metav1.APIResource{
		Name: name + "s", SingularName: name, ShortNames: []string{short}, Kind: kind, Namespaced: namespaced,
		Verbs: metav1.Verbs{"get", "list"},
	}
}

// Object is an object in JSON. Fields of it may be added.
func Object(apiVersion, kind, name string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
}

// List is a list of objects of one kind, with the token of the next page, if there is one.
func List(next string, objects ...map[string]any) map[string]any {
	list := Object(objects[0]["apiVersion"].(string), objects[0]["kind"].(string)+"List", "")
	list["metadata"], list["items"] = map[string]any{"continue": next}, objects
	return list
}

// Write writes an object.
func Write(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

// Refuse writes an error, as the API server does.
func Refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	Write(w, int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: message,
	})
}

// Hang never answers. It doesn't return before the client has gone: an empty answer could be faster.
func Hang(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}
