package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"example.com/hacking-a-controller/testcluster"
)

const theServer = "https://example:6443"

func TestExplain(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	get := func(err error) error { return &url.Error{Op: "Get", URL: theServer + "/api/v1/pods", Err: err} }
	const late = "https://example:6443 did not answer in time; see whether it is up with kubectl get --raw /readyz"

	tests := map[string]struct {
		err  error
		want string
	}{
		"forbidden": {
			apierrors.NewForbidden(pods, "", errors.New(`User "jane" cannot list`)),
			`pods is forbidden: User "jane" cannot list; ask an administrator for that verb on that resource`,
		},
		"an object that is not there": {
			apierrors.NewNotFound(pods, "web"),
			`pods "web" not found; see which there are: resource-builder pods -A --unstructured`,
		},
		"a type that is not there any more": {
			apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "404 page not found", 0, true),
			"the server could not find the requested resource; if the type was removed, discovery's cache still has it: delete ~/.kube/cache/discovery",
		},
		"a bad request": {
			apierrors.NewBadRequest("field label not supported: spec.foo"),
			"field label not supported: spec.foo; correct -l or --field-selector (each kind has metadata.name and metadata.namespace, and few more)",
		},
		"any other answer": {
			apierrors.NewInternalError(errors.New("etcd is gone")),
			"Internal error occurred: etcd is gone; see how the server is with kubectl get --raw /readyz",
		},
		"the server's own deadline":  {apierrors.NewTimeoutError("too slow", 0), late},
		"our deadline":               {get(context.DeadlineExceeded), late},
		"a deadline of the network":  {get(&net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}), late},
		"a deadline in mid-sentence": {fmt.Errorf("reading the body: %w", context.DeadlineExceeded), late},
		"an advice of cli-runtime's own": {
			errors.New("no matches for kind \"Boat\" in version \"v1\"\nensure CRDs are installed first"),
			`no matches for kind "Boat" in version "v1"; correct apiVersion and kind, or install its CustomResourceDefinition first`,
		},
		"a server that went away while files were read": {
			errors.New(`unable to recognize "fleet.yaml": Get "https://example:6443/api": EOF`),
			`unable to recognize "fleet.yaml": Get "https://example:6443/api": EOF; see how the server is with kubectl get --raw /readyz`,
		},
		"an unknown type": {
			errors.New(`the server doesn't have a resource type "podz"`),
			`the server doesn't have a resource type "podz"; kubectl api-resources shows those that it has`,
		},
		"an error that says it all": {errors.New("the disk is full"), "the disk is full"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.EqualError(t, explain(tc.err, theServer), tc.want)
		})
	}
}

func TestNothingIsReportedTwice(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	visit := utilerrors.NewAggregate([]error{a, utilerrors.NewAggregate([]error{b, errors.New("a")}), b})
	require.EqualError(t, explainEach(visit, theServer), "a\nb")
	require.EqualError(t, explainEach(a, theServer), "a")
	assert.NoError(t, explainEach(nil, theServer))
}

// TestErrorsOverTheWire makes errors the way they come about, so that explain is
// right about what client-go and net/http return.
func TestErrorsOverTheWire(t *testing.T) {
	refuse := func(code int32, reason metav1.StatusReason, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, int(code), status(code, reason, message)) }
	}
	var busy atomic.Int32 // how many requests a busy server got
	comeBackLater := func(w http.ResponseWriter, r *http.Request) {
		busy.Add(1)
		w.Header().Set("Retry-After", "1")
		refuse(429, metav1.StatusReasonTooManyRequests, "too many requests")(w, r)
	}
	to := func(handler http.HandlerFunc) func(t *testing.T) string {
		return func(t *testing.T) string { return kubeconfigFor(t, serve(t, handler)) }
	}
	const late = " did not answer in time; see whether it is up with kubectl get --raw /readyz\n"

	tests := map[string]struct {
		kubeconfig func(t *testing.T) string
		want       string
	}{
		"unauthorised":        {to(refuse(401, metav1.StatusReasonUnauthorized, "Unauthorized")), " does not accept the credentials"},
		"forbidden":           {to(discover(refuse(403, metav1.StatusReasonForbidden, "namespaces is forbidden"))), "error: namespaces is forbidden; ask an administrator"},
		"expired":             {to(discover(refuse(410, metav1.StatusReasonExpired, "too old"))), "error: the server has forgotten the rest of the list"},
		"a bad request":       {to(discover(refuse(400, metav1.StatusReasonBadRequest, "field label not supported"))), "field label not supported; correct -l or --field-selector"},
		"not Kubernetes":      {to(http.NotFound), " does not answer as an API server does; correct its address in the kubeconfig"},
		"no answer at all":    {to(hang), late},
		"no answer to a list": {to(discover(hang)), late},
		"an answer that breaks off": {to(discover(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		})), late},
		"a server that is always busy":        {to(comeBackLater), late},
		"a server that is busy after a while": {to(discover(comeBackLater)), late},
		"a server that accepts and is silent": {
			func(t *testing.T) string {
				t.Setenv("KUBECACHEDIR", t.TempDir())
				listener, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				t.Cleanup(func() { _ = listener.Close() })
				return kubeconfigTo(t, "https://"+listener.Addr().String(), nil)
			}, late,
		},
		"a certificate that nobody vouches for": {
			func(t *testing.T) string { return kubeconfigTo(t, serve(t, hang).URL, nil) },
			" is not trusted; get a new kubeconfig",
		},
		"a closed port": {
			// A port that was just closed may soon be somebody else's.
			func(t *testing.T) string { return kubeconfigTo(t, "https://127.0.0.1:1", nil) },
			" cannot be reached; start the cluster",
		},
		"a server that does not speak TLS": {
			func(t *testing.T) string {
				t.Setenv("KUBECACHEDIR", t.TempDir())
				server := httptest.NewServer(http.NotFoundHandler())
				t.Cleanup(server.Close)
				return kubeconfigTo(t, strings.Replace(server.URL, "http:", "https:", 1), nil)
			},
			" does not speak TLS; correct the server's address in the kubeconfig",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			timeout := "--request-timeout=" + testcluster.TestTimeout.String()
			if tc.want == late {
				timeout = "--request-timeout=300ms"
			}
			busy.Store(0)
			stdout, stderr, code := resourceBuilder("namespaces", "--kubeconfig", tc.kubeconfig(t), timeout)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, tc.want)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			assert.LessOrEqual(t, busy.Load(), int32(2), "client-go alone makes ten requests, a second apart")
		})
	}
}

func TestATypeWhoseAPIIsDownIsUnavailable(t *testing.T) {
	known := discover(http.NotFound)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch version := (metav1.GroupVersionForDiscovery{GroupVersion: "sky/v1", Version: "v1"}); r.URL.Path {
		case "/apis":
			writeJSON(w, http.StatusOK, metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "sky", Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}}})
		case "/apis/sky/v1":
			http.Error(w, "nobody serves it", http.StatusServiceUnavailable)
		default:
			known(w, r)
		}
	})
	manifest := filepath.Join(t.TempDir(), "moon.yaml")
	require.NoError(t, os.WriteFile(manifest, []byte("{apiVersion: sky/v1, kind: Moon, metadata: {name: luna}}"), 0o600))
	_, stderr, code := resourceBuilder("-f", manifest, "--kubeconfig", kubeconfigFor(t, server))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "; but of sky/v1 there was no answer, so its types are unavailable, not unknown: kubectl get apiservices says why\n")

	_, stderr, code = resourceBuilder("moons", "--kubeconfig", kubeconfigFor(t, server))
	assert.Equal(t, 1, code)
	assert.Equal(t, "error: the server doesn't have a resource type \"moons\"; kubectl api-resources shows those that it has; but of sky/v1 there was no answer, so its types are unavailable, not unknown: kubectl get apiservices says why\n", stderr)
	for _, name := range []string{"moons.sky", "moons.v1.sky"} {
		_, stderr, code = resourceBuilder(name, "--kubeconfig", kubeconfigFor(t, server))
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "its types are unavailable, not unknown: kubectl get apiservices says why\n")
	}
}

func TestALoginHelperThatFails(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: x, clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}],
contexts: [{name: x, context: {cluster: c, user: u}}],
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-login-helper, interactiveMode: Never, installHint: ask at the door}}}]}`), 0o600))
	_, stderr, code := resourceBuilder("namespaces", "--kubeconfig", kubeconfig)
	assert.Equal(t, 1, code)
	assert.Equal(t, "error: the login helper that the kubeconfig names (users, exec) gave no credentials; install it, or log in again (exec: executable no-such-login-helper not found: ask at the door)\n", stderr)
}

// TestSeveralObjectsOfADeadServer is one error, however many were requested.
func TestSeveralObjectsOfADeadServer(t *testing.T) {
	server := serve(t, discover(hang))
	_, stderr, code := resourceBuilder("namespaces", "a", "b", "c", "--kubeconfig", kubeconfigFor(t, server), "--request-timeout=100ms")
	assert.Equal(t, 1, code)
	assert.Equal(t, "error: "+server.URL+" did not answer in time; see whether it is up with kubectl get --raw /readyz\n", stderr)
}

func TestPagesBeforeAnErrorArePrinted(t *testing.T) {
	server := serve(t, discover(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			writeJSON(w, http.StatusOK, namespaceList("next", "a"))
			return
		}
		writeJSON(w, http.StatusGone, status(http.StatusGone, metav1.StatusReasonExpired, "too old"))
	}))
	stdout, stderr, code := resourceBuilder("namespaces", "--kubeconfig", kubeconfigFor(t, server))
	assert.Equal(t, 1, code)
	assert.Equal(t, "a is currently Active\n", stdout)
	assert.Contains(t, stderr, "error: the server has forgotten the rest of the list")
}
