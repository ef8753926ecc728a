package main

import (
	"bytes"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/02-resource-builder/cli"
)

// brokenWriter fails every write.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestAFullDiskIsAFailure(t *testing.T) {
	stderr, code := writeTo(t, brokenWriter{syscall.ENOSPC})
	assert.Equal(t, 1, code)
	assert.Equal(t, "error: writing the list: no space left on device\n", stderr)
}

func writeTo(t *testing.T, stdout brokenWriter) (string, int) {
	t.Helper()
	server := serve(t, discover(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, namespaceList("", "a", "b"))
	}))
	var stderr bytes.Buffer
	code := cli.Run(t.Context(), newCommand(), []string{"namespaces", "--kubeconfig", kubeconfigFor(t, server)}, stdout, &stderr)
	return stderr.String(), code
}
