package main

import (
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

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/hacking-a-controller/testcluster"
)

// realCluster is a real API server that knows boats.
type realCluster struct {
	*testcluster.Cluster
	client client.Client
}

func startCluster(t *testing.T) *realCluster {
	t.Helper()
	// What discovery caches of an address must not outlive its server.
	t.Setenv("KUBECACHEDIR", t.TempDir())
	c := testcluster.Start(t)
	var err error
	c.CRDs, err = envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{Paths: []string{"harbour/crd.yaml"}, ErrorIfPathMissing: true, MaxTime: testcluster.TestTimeout})
	require.NoError(t, err)
	forObjects, err := client.New(c.Config, client.Options{})
	require.NoError(t, err)
	return &realCluster{c, forObjects}
}

// run runs the program as the administrator.
func (c *realCluster) run(args ...string) (stdout, stderr string, code int) {
	return resourceBuilder(append(args, "--kubeconfig", c.Kubeconfig, "--request-timeout="+testcluster.TestTimeout.String())...)
}

// kubectl runs the yardstick.
func (c *realCluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), c.ControlPlane.KubectlPath, append(args, "--kubeconfig", c.Kubeconfig)...).Output()
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

// observer stands between a client and the API server, and notes the requests.
type observer struct {
	kubeconfig string

	mu       sync.Mutex
	requests []string
}

func (c *realCluster) observe(t *testing.T) *observer {
	t.Helper()
	o := &observer{}
	address, err := url.Parse(c.Config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(c.Config)
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
