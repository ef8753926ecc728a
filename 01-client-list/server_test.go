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
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are wanted here
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// servePages answers with one page of names after another. The Continue token
// is the first name of the next page.
func servePages(t *testing.T, pages ...[]string) *httptest.Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i, page := range pages {
			token := r.URL.Query().Get("continue")
			if token != page[0] && (token != "" || i != 0) {
				continue
			}
			next := ""
			if i+1 < len(pages) {
				next = pages[i+1][0]
			}
			writeJSON(w, http.StatusOK, namespaceList(next, page...))
			return
		}
	})
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
		list.Items = append(list.Items, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
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
	path := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, path, "test", &clientcmdapi.Cluster{Server: address, CertificateAuthorityData: authority})
	return path
}

// writeKubeconfig writes a kubeconfig whose context, cluster and user all have
// the one name.
func writeKubeconfig(t *testing.T, path, name string, cluster *clientcmdapi.Cluster) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.CurrentContext = name
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.Clusters[name] = cluster
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: name}
	require.NoError(t, clientcmd.WriteToFile(*config, path))
}

func certificatePEM(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
