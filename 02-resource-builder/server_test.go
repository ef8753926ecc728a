package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// serve starts a TLS server in the place of the API server.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	// What discovery caches of an address must not outlive its server.
	t.Setenv("KUBECACHEDIR", t.TempDir())
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are wanted here
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// discover answers the questions of discovery, in the old form that needs one
// request for each group: here is only the core group, with only namespaces and pods.
// Everything else is for next.
func discover(next http.HandlerFunc) http.HandlerFunc {
	mux := http.NewServeMux()
	answer := func(path string, object any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, object) })
	}
	answer("/api", metav1.APIVersions{Versions: []string{"v1"}})
	answer("/apis", metav1.APIGroupList{})
	answer("/api/v1", metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
		{Name: "namespaces", SingularName: "namespace", ShortNames: []string{"ns"}, Kind: "Namespace", Verbs: metav1.Verbs{"get", "list"}},
		{Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", Verbs: metav1.Verbs{"get", "list"}},
	}})
	mux.HandleFunc("/", next)
	return mux.ServeHTTP
}

// hang never answers, not even when the client has gone: that the handler returns
// would be an empty answer, and can be faster than the client.
func hang(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

func namespaceList(token string, names ...string) *corev1.NamespaceList {
	list := &corev1.NamespaceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"},
		ListMeta: metav1.ListMeta{Continue: token},
	}
	for _, name := range names {
		list.Items = append(list.Items, corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
		})
	}
	return list
}

// status is what the API server sends when it refuses.
func status(code int32, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Code:     code,
		Reason:   reason,
		Message:  message,
	}
}

func writeJSON(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

// kubeconfigFor writes a kubeconfig that trusts the server, and returns its path.
func kubeconfigFor(t *testing.T, server *httptest.Server) string {
	t.Helper()
	return kubeconfigTo(t, server.URL, certificatePEM(server))
}

// kubeconfigTo writes a kubeconfig for the address, and returns its path.
func kubeconfigTo(t *testing.T, address string, authority []byte) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.CurrentContext = "test"
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: address, CertificateAuthorityData: authority}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: "test"}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

func certificatePEM(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
