package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/01-client-list/cli"
	"example.com/hacking-a-controller/testcluster"
)

const theServer = "https://example:6443"

// TestErrorsOverTheWire makes the same errors the way they come about, so that
// cli.Explain is right about what client-go and net/http return.
func TestErrorsOverTheWire(t *testing.T) {
	refuse := func(code int32, reason metav1.StatusReason, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, int(code), status(code, reason, message)) }
	}
	const late = " did not answer in time"

	tests := map[string]struct {
		kubeconfig func(t *testing.T) string
		want       string // SERVER stands for the server's address
	}{
		"unauthorised": {
			func(t *testing.T) string {
				return kubeconfigFor(t, serve(t, refuse(401, metav1.StatusReasonUnauthorized, "Unauthorized")))
			},
			"SERVER does not accept the credentials",
		},
		"forbidden": {
			func(t *testing.T) string {
				return kubeconfigFor(t, serve(t, refuse(403, metav1.StatusReasonForbidden, `namespaces is forbidden: User "jane" cannot list`)))
			},
			`namespaces is forbidden: User "jane" cannot list; ask an administrator for that verb on that resource`,
		},
		"expired without end": {
			func(t *testing.T) string {
				return kubeconfigFor(t, serve(t, refuse(410, metav1.StatusReasonExpired, "too old")))
			},
			"the server has forgotten the rest of the list",
		},
		"a server that never answers": {
			func(t *testing.T) string { return kubeconfigFor(t, serve(t, hang)) },
			"SERVER" + late,
		},
		"a server that stops in the middle of its answer": {
			func(t *testing.T) string {
				return kubeconfigFor(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Length", "1000")
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
					hang(w, r)
				}))
			},
			"SERVER" + late,
		},
		"a server that accepts and does not answer": {
			func(t *testing.T) string {
				listener, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				t.Cleanup(func() { _ = listener.Close() })
				return kubeconfigTo(t, "https://"+listener.Addr().String(), nil)
			},
			"SERVER" + late,
		},
		"a server that wants a retry later, again and again": {
			func(t *testing.T) string {
				var requests atomic.Int32
				t.Cleanup(func() {
					assert.LessOrEqual(t, requests.Load(), int32(1), "client-go alone makes ten requests, a second apart")
				})
				return kubeconfigFor(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					w.Header().Set("Retry-After", "1")
					refuse(429, metav1.StatusReasonTooManyRequests, "too many requests")(w, r)
				}))
			},
			"SERVER" + late,
		},
		"a certificate that nobody vouches for": {
			func(t *testing.T) string { return kubeconfigTo(t, serve(t, hang).URL, nil) },
			"the certificate of SERVER is not trusted",
		},
		"a certificate for another name": {
			func(t *testing.T) string {
				server := serve(t, hang)
				return kubeconfigTo(t, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), certificatePEM(server))
			},
			"the certificate of SERVER is not trusted",
		},
		"a server that wants a client certificate": {
			func(t *testing.T) string {
				server := httptest.NewUnstartedServer(http.NotFoundHandler())
				server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
				server.Config.ErrorLog = log.New(io.Discard, "", 0)
				server.StartTLS()
				t.Cleanup(server.Close)
				return kubeconfigFor(t, server)
			},
			"SERVER does not accept the client certificate: it is another cluster's, or has expired; get a new kubeconfig (remote error: tls: ",
		},
		"TLS where there is http:// in the kubeconfig": {
			func(t *testing.T) string {
				return kubeconfigTo(t, strings.Replace(serve(t, hang).URL, "https:", "http:", 1), nil)
			},
			"SERVER speaks TLS; write https:// before its address in the kubeconfig",
		},
		"a page to log in, to which a proxy redirects": {
			func(t *testing.T) string {
				return kubeconfigFor(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/login" {
						http.Redirect(w, r, "/login", http.StatusFound)
						return
					}
					w.Header().Set("Content-Type", "text/html")
					_, _ = io.WriteString(w, "<html>who are you?</html>")
				}))
			},
			"SERVER does not answer as an API server does; correct its address in the kubeconfig (serializer for text/html doesn't exist)\n",
		},
		"redirects without an end": {
			func(t *testing.T) string {
				return kubeconfigFor(t, serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) }))
			},
			"SERVER does not answer as an API server does; correct its address in the kubeconfig (stopped after 10 redirects)\n",
		},
		"an empty answer": {
			func(t *testing.T) string {
				return kubeconfigFor(t, serve(t, func(http.ResponseWriter, *http.Request) {}))
			},
			"SERVER does not answer as an API server does",
		},
		"a proxy that does not exist": {
			func(t *testing.T) string { return kubeconfigThrough(t, "http://proxy.invalid:3128") },
			"the proxy on the way to SERVER did not let the request through",
		},
		"a proxy that redirects": {
			func(t *testing.T) string {
				proxy := httptest.NewServer(http.RedirectHandler("https://login.invalid", http.StatusFound))
				t.Cleanup(proxy.Close)
				return kubeconfigThrough(t, proxy.URL)
			},
			"the proxy on the way to SERVER did not let the request through",
		},
		"a proxy that is not there": {
			func(t *testing.T) string { return kubeconfigThrough(t, "http://127.0.0.1:1") },
			"the proxy on the way to SERVER did not let the request through",
		},
		"a proxy that refuses": {
			func(t *testing.T) string {
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
				t.Cleanup(proxy.Close)
				return kubeconfigThrough(t, proxy.URL)
			},
			"the proxy on the way to SERVER did not let the request through",
		},
		"a closed port": {
			// A port that was just closed may soon be somebody else's.
			func(t *testing.T) string { return kubeconfigTo(t, "https://127.0.0.1:1", nil) },
			"SERVER cannot be reached; start the cluster",
		},
		"a server that does not speak TLS": {
			func(t *testing.T) string {
				server := httptest.NewServer(http.NotFoundHandler())
				t.Cleanup(server.Close)
				return kubeconfigTo(t, strings.Replace(server.URL, "http:", "https:", 1), nil)
			},
			"what listens at SERVER does not speak TLS; correct the server's address in the kubeconfig",
		},
		"something that is not Kubernetes": {
			func(t *testing.T) string { return kubeconfigFor(t, serve(t, http.NotFound)) },
			"the server could not find the requested resource (get namespaces); see how the server is with kubectl get --raw /readyz",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kubeconfig := tc.kubeconfig(t)
			config, _, err := (&cli.ConfigFlags{Kubeconfig: kubeconfig}).Load()
			require.NoError(t, err)

			timeout := "--request-timeout=" + testcluster.TestTimeout.String()
			if strings.HasSuffix(tc.want, late) {
				timeout = "--request-timeout=300ms"
			}
			var stdout, stderr bytes.Buffer
			code := cli.Run(t.Context(), newCommand(), []string{"--kubeconfig", kubeconfig, timeout}, &stdout, &stderr)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout.String())
			assert.Contains(t, stderr.String(), "error: "+strings.ReplaceAll(tc.want, "SERVER", config.Host))
		})
	}
}

func TestPagesBeforeAnErrorArePrinted(t *testing.T) {
	kubeconfig := kubeconfigFor(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			writeJSON(w, http.StatusOK, namespaceList("next", "a"))
			return
		}
		writeJSON(w, http.StatusUnauthorized, status(401, metav1.StatusReasonUnauthorized, "Unauthorized"))
	}))
	for output, want := range map[string]string{"": "a\n", "wide": "NAME   STATUS   AGE\na               <unknown>\n"} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, 1, cli.Run(t.Context(), newCommand(), []string{"--kubeconfig", kubeconfig, "-o", output}, &stdout, &stderr))
		assert.Equal(t, want, stdout.String())
		assert.Contains(t, stderr.String(), "does not accept the credentials")
	}
}

func TestACertificateAuthorityThatIsNoneIsNamed(t *testing.T) {
	var stdout, stderr bytes.Buffer
	kubeconfig := kubeconfigTo(t, theServer, []byte("not a certificate"))
	assert.Equal(t, 1, cli.Run(t.Context(), newCommand(), []string{"--kubeconfig", kubeconfig}, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "error: creating a client for https://example:6443: ")
	assert.Contains(t, stderr.String(), "; repair the kubeconfig")
}

func TestALoginHelperThatGivesNothing(t *testing.T) {
	const advice = "error: the login helper that the kubeconfig names (users, exec) gave no credentials; install it, or log in again ("
	for command, want := range map[string]string{
		"no-such-login-helper": "exec: executable no-such-login-helper not found: ask at the door",
		"false":                "exec: executable false failed with exit code 1",
		"true":                 "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin returned version client.authentication.k8s.io/__internal",
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, 1, cli.Run(t.Context(), newCommand(), []string{"--kubeconfig", kubeconfigWithHelper(t, command)}, &stdout, &stderr))
		assert.Empty(t, stdout.String())
		assert.Equal(t, advice+want+")\n", stderr.String())
	}
}

// kubeconfigWithHelper names a program that logs in.
func kubeconfigWithHelper(t *testing.T, command string) string {
	t.Helper()
	return kubeconfigOf(t, `{server: "https://127.0.0.1:1"}`,
		`{exec: {apiVersion: client.authentication.k8s.io/v1, command: '`+command+`', interactiveMode: Never, installHint: ask at the door}}`)
}

// kubeconfigThrough names a proxy. No proxy is asked for what is on this machine.
func kubeconfigThrough(t *testing.T, proxy string) string {
	t.Helper()
	return kubeconfigOf(t, `{server: "https://moon.invalid", proxy-url: "`+proxy+`"}`, "{}")
}

func kubeconfigOf(t *testing.T, cluster, user string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	content := `{apiVersion: v1, kind: Config, current-context: x, clusters: [{name: c, cluster: ` + cluster + `}],
users: [{name: u, user: ` + user + `}], contexts: [{name: x, context: {cluster: c, user: u}}]}`
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
