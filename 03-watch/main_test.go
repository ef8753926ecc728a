package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAChangeThatCannotBePrintedEndsIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !r.URL.Query().Has("watch") {
			fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"bell"}}]}`)
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	for name, raw := range sources {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
			defer cancel()
			require.EqualError(t, run(ctx, &rest.Config{Host: server.URL}, options{raw: raw}, fullDisk{}), "printing: no space left on device")
			assert.NoError(t, ctx.Err(), "at once")
		})
	}
}

func TestFlagsAfterAStrayWordAreNotIgnored(t *testing.T) {
	program := exec.CommandContext(t.Context(), os.Args[0], "x", "-l", "run=bell")
	program.Env = append(os.Environ(), runMain+"=1", "KUBECONFIG=missing", "KUBERNETES_SERVICE_HOST=")
	output, err := program.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 2, program.ProcessState.ExitCode())
	assert.Equal(t, "error: \"x\" isn't a flag, and all flags after it would be ignored\n", string(output))
}
