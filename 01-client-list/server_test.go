package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

// TestMain is the program itself where a test runs it.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command prepares client-list as a process that finds no configuration but what a test names.
func command(t *testing.T, args ...string) (program *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	t.Cleanup(cancel)
	program, stderr = exec.CommandContext(ctx, os.Args[0], args...), new(bytes.Buffer)
	program.Env = append(os.Environ(), "RUN_MAIN=1", "KUBERNETES_SERVICE_HOST=", "KUBECONFIG=", "HOME="+t.TempDir())
	program.Stderr = stderr
	return program, stderr
}

// clientList runs client-list to its end.
func clientList(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	program, errs := command(t, args...)
	out, _ := program.Output() // the exit code says whether it failed
	return string(out), errs.String(), program.ProcessState.ExitCode()
}

// serve starts a server in the place of the API server, and returns a kubeconfig for it.
func serve(t *testing.T, handler http.HandlerFunc) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return kubeconfigFor(t, server.URL)
}

// closedPort is one that nobody may listen at. A port that was just closed may soon be somebody else's.
const closedPort = "https://127.0.0.1:1"

func kubeconfigFor(t *testing.T, address string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, path, "test", address)
	return path
}

// writeKubeconfig writes a kubeconfig whose context and cluster have the one name.
func writeKubeconfig(t *testing.T, path, name, address string) {
	t.Helper()
	content := fmt.Sprintf("{current-context: %[1]s, contexts: [{name: %[1]s, context: {cluster: %[1]s}}], clusters: [{name: %[1]s, cluster: {server: %[2]q}}]}", name, address)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func namespaceList(token string, names ...string) *corev1.NamespaceList {
	list := &corev1.NamespaceList{ListMeta: metav1.ListMeta{Continue: token}}
	for _, name := range names {
		list.Items = append(list.Items, corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-200 * 24 * time.Hour))},
			Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
		})
	}
	return list
}

// refuse answers as the API server does when it refuses.
func refuse(code int32, reason metav1.StatusReason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, int(code), &metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
		})
	}
}

func writeJSON(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}
