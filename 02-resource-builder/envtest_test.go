package main

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// testTimeout bounds each wait of a test. It is long, because a test machine may
// be busy, and costs nothing: a test goes on as soon as its condition holds.
var testTimeout = func() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic("reading TEST_TIMEOUT: " + err.Error())
	}
	return timeout
}()

// realCluster is a real API server with its etcd, and nothing else: no node
// runs a pod, and no controller makes one for a Deployment.
type realCluster struct {
	*envtest.Environment
	config     *rest.Config // the administrator
	client     client.Client
	kubeconfig string // the administrator's, as a file
}

// startCluster starts a cluster that knows boats and ends with the test. envtest
// finds the two programs in the folder that KUBEBUILDER_ASSETS names.
func startCluster(t *testing.T) *realCluster {
	t.Helper()
	// Go's test cache sees the variables that a test reads, but not the programs
	// that it starts: this one holds their hash.
	_ = os.Getenv("TEST_INPUTS")
	require.NotEmpty(t, os.Getenv("KUBEBUILDER_ASSETS"),
		"this test needs a real API server: run `make lab`, then `make test-2`, at the root of the repository")
	// What discovery remembers of an address must not outlive its server.
	t.Setenv("KUBECACHEDIR", t.TempDir())

	env := &envtest.Environment{
		CRDInstallOptions:        envtest.CRDInstallOptions{Paths: []string{"harbour/crd.yaml"}, ErrorIfPathMissing: true, MaxTime: testTimeout},
		ControlPlaneStartTimeout: testTimeout, ControlPlaneStopTimeout: testTimeout,
	}
	config, err := env.Start()
	// A start that fails half-way has started half.
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	require.NoError(t, err, "starting the API server from KUBEBUILDER_ASSETS: run `make lab`, then `make test-2`, at the root of the repository")
	config.QPS = -1
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	return &realCluster{env, config, c, writeFile(t, "kubeconfig", string(env.KubeConfig))}
}

// run runs the program as the administrator.
func (c *realCluster) run(args ...string) (stdout, stderr string, code int) {
	return resourceBuilder(append(args, "--kubeconfig", c.kubeconfig, "--request-timeout="+testTimeout.String())...)
}

// kubectl runs the yardstick.
func (c *realCluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(c.ControlPlane.APIServer.Path, "..", "kubectl")
	out, err := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig", c.kubeconfig)...).Output()
	require.NoError(t, err, "kubectl %v", args)
	return string(out)
}

// create creates the object, and gives it the status it came with.
func (c *realCluster) create(t *testing.T, object client.Object) {
	t.Helper()
	wanted := object.DeepCopyObject().(client.Object)
	require.NoError(t, c.client.Create(t.Context(), object))
	wanted.SetResourceVersion(object.GetResourceVersion())
	wanted.SetUID(object.GetUID())
	require.NoError(t, c.client.Status().Update(t.Context(), wanted))
}

// userKubeconfig returns a kubeconfig for a new user without any rights.
func (c *realCluster) userKubeconfig(t *testing.T, name string) string {
	t.Helper()
	user, err := c.AddUser(envtest.User{Name: name}, nil)
	require.NoError(t, err)
	kubeconfig, err := user.KubeConfig()
	require.NoError(t, err)
	return writeFile(t, "kubeconfig", string(kubeconfig))
}

// observer stands between a client and the API server, and notes the requests.
type observer struct {
	kubeconfig string

	mu       sync.Mutex
	requests []string
}

func (c *realCluster) observe(t *testing.T) *observer {
	t.Helper()
	o := &observer{}
	address, err := url.Parse(c.config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(c.config)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(address)
		r.Out.Header.Del("Authorization") // the transport is the administrator's
	}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.requests = append(o.requests, r.URL.Path)
		o.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	o.kubeconfig = kubeconfigFor(t, server)
	return o
}

// take returns the paths of the requests since the last time.
func (o *observer) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	requests := o.requests
	o.requests = nil
	return requests
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func sortedLines(text string) []string {
	return slices.Sorted(strings.Lines(text))
}
