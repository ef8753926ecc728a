package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/testcluster"
)

// TestErrorsOverTheWire makes errors the way they come about, so that explain knows what client-go and
// net/http return.
func TestErrorsOverTheWire(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake, which fails
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)

	const late = "context deadline exceeded; see whether the server is up: kubectl get --raw /readyz\n"
	tests := map[string]struct{ kubeconfig, want string }{
		"unauthorised":                   {serve(t, refuse(401, "Unauthorized", "Unauthorized")), "error: listing the namespaces: Unauthorized; log in again, or get a new kubeconfig\n"},
		"forbidden":                      {serve(t, refuse(403, "Forbidden", `User "jane" cannot list`)), `User "jane" cannot list; ask an administrator for that verb on that resource` + "\n"},
		"expired without end":            {serve(t, refuse(410, "Expired", "too old")), "too old; the server has forgotten the rest of the list: run the command again\n"},
		"a server that never answers":    {serve(t, hang), late},
		"a certificate of somebody else": {kubeconfigFor(t, untrusted.URL), "; get a new kubeconfig, or make sure that this is the right server\n"},
		"a closed port":                  {kubeconfigFor(t, closedPort), "connection refused; start the cluster, or choose another with --kubeconfig or --context\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			timeout := testcluster.TestTimeout
			if tc.want == late {
				timeout = 300 * time.Millisecond
			}
			stdout, stderr, code := clientList(t, "--kubeconfig", tc.kubeconfig, "--request-timeout", timeout.String())
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, tc.want)
		})
	}
}
