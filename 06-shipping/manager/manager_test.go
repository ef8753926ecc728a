package manager

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/05-crd-operator/settings"
	"example.com/hacking-a-controller/testcluster"
)

const crds = "../../05-crd-operator/config/crd"

// TestOneCluster has all tests that share a server. In each there is one manager
// that leads, or none.
func TestOneCluster(t *testing.T) {
	cluster := testcluster.Start(t)
	e := newEnv(t, cluster)
	t.Run("without the CRDs it does not start", func(t *testing.T) {
		here := *e
		here.t = t
		withoutTheCRDs(t, &here)
	})
	cluster.InstallCRDs(t, testcluster.ReadCRDs(t, crds)...)
	for _, tc := range []struct {
		name string
		run  func(*testing.T, *env)
	}{
		{"both operators work", bothWork},
		{"metrics are for those who may read them", readersOfMetricsOnly},
		{"metrics are for those who have the token", tokenFile},
		{"profiles are for those who may read them", readersOfProfilesOnly},
		{"a Prometheus verifies the certificate that it was given", verified},
		{"only in the namespaces that it was given", someNamespaces},
		{"a leader that is killed is replaced", leaderKilled},
		{"a leader that is stopped is replaced at once", leaderStopped},
		{"traces are sent when there is an endpoint", traces},
		{"what keeps it from starting", doesNotStart},
	} {
		t.Run(tc.name, func(t *testing.T) {
			here := *e
			here.t = t
			tc.run(t, &here)
		})
	}
}

func bothWork(t *testing.T, e *env) {
	e.namespace("work")
	p := e.start("--log-level=debug")
	e.create("work", "kettle")
	e.layer("work")
	e.runs("work", "kettle")
	isBlue := func() bool { return e.colour("work") == "blue" }
	require.Eventually(t, isBlue, testcluster.TestTimeout, pause)
	p.ready()
	require.Eventually(t, func() bool { return e.inEffect("work") }, testcluster.TestTimeout, pause)
	forged := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "work", Name: settings.ConfigMap}}
	require.NoError(t, e.client.Patch(t.Context(), forged, client.RawPatch(types.MergePatchType, []byte(`{"data":{"colour":"forged"}}`))))
	require.Eventually(t, isBlue, testcluster.TestTimeout, pause)

	code, _ := p.get("http://"+p.health+"/healthz", "")
	assert.Equal(t, http.StatusOK, code)
	token := e.token("reader-of-both", mayReadMetrics)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		code, metrics := p.scrape(token)
		assert.Equal(t, http.StatusOK, code)
		for _, line := range []string{
			`cnat_ats{phase="RUNNING"} 1`,
			"cnat_start_lateness_seconds_count 1",
			"settings_drift_repairs_total 1",
			`cnat_manager_info{region="coast",revision="unknown",version="devel"} 1`,
			`leader_election_master_status{name="cnat-manager"} 1`,
		} {
			assert.Contains(t, metrics, line+"\n")
		}
	}, testcluster.TestTimeout, pause)
	// The server has the status before the manager knows of it.
	require.Eventually(t, func() bool { return strings.Contains(p.output.String(), "wrote the status") }, testcluster.TestTimeout, pause)
	assert.Zero(t, p.signal(syscall.SIGTERM), p.output.String())
	forPrograms(t, p.output.Lines())
}

var mayReadMetrics = rbacv1.PolicyRule{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}

// forPrograms wants each line of the log to be JSON, and those about an At to name it.
func forPrograms(t *testing.T, lines []string) {
	t.Helper()
	about := 0
	for _, text := range lines {
		var line struct{ Time, Level, Msg, Region, Namespace, Name string }
		require.NoError(t, json.Unmarshal([]byte(text), &line), text)
		assert.NotEmpty(t, line.Time+line.Level+line.Msg)
		assert.Equal(t, "coast", line.Region, text)
		if line.Msg == "created the pod" || line.Msg == "wrote the status" {
			about++
			assert.Equal(t, "work/kettle", line.Namespace+"/"+line.Name)
		}
	}
	assert.Equal(t, 2, about)
}

func readersOfMetricsOnly(t *testing.T, e *env) {
	p := e.start()
	reader, other := e.token("reader", mayReadMetrics), e.token("other")
	require.Eventually(t, func() bool { code, _ := p.scrape(reader); return code == http.StatusOK }, testcluster.TestTimeout, pause)
	// What is no token at all is an error of the review, and the framework says 500.
	for token, want := range map[string]int{"": http.StatusUnauthorized, "made-up": http.StatusInternalServerError, other: http.StatusForbidden} {
		code, body := p.scrape(token)
		assert.Equal(t, want, code)
		assert.NotContains(t, body, "cnat_ats")
	}
	code, _ := p.get("http://"+p.metrics+"/metrics", reader)
	assert.NotEqual(t, http.StatusOK, code, "it speaks HTTPS only")
	assert.Zero(t, p.signal(syscall.SIGTERM))
	assert.NotContains(t, p.output.String(), reader)
	assert.NotContains(t, p.output.String(), "made-up")
}

func readersOfProfilesOnly(t *testing.T, e *env) {
	p := e.start()
	profile := func(path, token string) (int, string) { return p.get("https://"+p.metrics+path, token) }
	content, err := os.ReadFile("../config/profile-reader/account.yaml")
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	first, _, _ := strings.Cut(string(content), "\n---\n")
	require.NoError(t, yaml.UnmarshalStrict([]byte(first), &role))
	reader, ofMetrics := e.token("reader-of-profiles", role.Rules...), e.token("no-reader-of-profiles", mayReadMetrics)
	require.Eventually(t, func() bool { code, _ := p.scrape(ofMetrics); return code == http.StatusOK }, testcluster.TestTimeout, pause)
	for path, want := range map[string]int{
		"/debug/pprof/heap": http.StatusOK, "/debug/pprof/goroutine": http.StatusOK, "/debug/pprof/profile?seconds=1": http.StatusOK,
		"/debug/pprof/cmdline": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound, "/metrics": http.StatusForbidden,
	} {
		code, _ := profile(path, reader)
		assert.Equal(t, want, code, path)
		if path != "/metrics" {
			code, _ = profile(path, ofMetrics)
			assert.NotEqual(t, http.StatusOK, code, path)
		}
	}
	require.Eventually(t, func() bool { // its controllers begin after its metrics
		_, goroutines := profile("/debug/pprof/goroutine?debug=1", reader)
		return strings.Contains(goroutines, "controller.(*Controller")
	}, testcluster.TestTimeout, pause)
	p.signal(syscall.SIGTERM)
}

func tokenFile(t *testing.T, e *env) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) { require.NoError(t, os.WriteFile(file, []byte(token), 0o600)) }
	write("first\n")
	p := e.start("--metrics-token-file=" + file)
	require.Eventually(t, func() bool { code, _ := p.scrape(""); return code != 0 }, testcluster.TestTimeout, pause)
	for token, want := range map[string]int{"": http.StatusUnauthorized, "second": http.StatusUnauthorized, "first": http.StatusOK} {
		code, _ := p.scrape(token)
		assert.Equal(t, want, code, token)
	}
	write("second") // as a Secret is replaced
	for token, want := range map[string]int{"first": http.StatusUnauthorized, "second": http.StatusOK} {
		code, _ := p.scrape(token)
		assert.Equal(t, want, code, token)
	}
	code, _ := p.get("https://"+p.metrics+"/debug/pprof/heap", "second")
	assert.Equal(t, http.StatusNotFound, code, "the token is for the metrics")
	write("")
	code, body := p.scrape("")
	assert.Equal(t, http.StatusInternalServerError, code)
	assert.NotContains(t, body, "cnat_ats")
	p.signal(syscall.SIGTERM)
	assert.NotContains(t, p.output.String(), "second")
}

// endpoint is all that a ServiceMonitor of ours says. Prometheus's own token, or any
// other file of it, is not among that; nor is to trust any server that answers.
type endpoint struct {
	Port, Scheme  string
	Authorization struct{ Credentials secretKey }
	TLSConfig     struct {
		ServerName string
		CA         struct{ Secret secretKey }
	}
}

type secretKey struct{ Name, Key string }

// verified asks as a Prometheus does whose operator has read the ServiceMonitor.
func verified(t *testing.T, e *env) {
	dir := t.TempDir()
	certificate, key, err := cert.GenerateSelfSignedCertKey("cnat-manager.cnat-system.svc", nil, nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))

	content, err := os.ReadFile("../config/prometheus/service_monitor.yaml")
	require.NoError(t, err)
	var monitor struct {
		metav1.PartialObjectMetadata
		Spec struct {
			Selector  metav1.LabelSelector
			Endpoints []endpoint
		}
	}
	require.NoError(t, yaml.UnmarshalStrict(content, &monitor))
	require.Len(t, monitor.Spec.Endpoints, 1)
	ours := monitor.Spec.Endpoints[0]
	token := e.token("cnat-metrics-reader", mayReadMetrics)
	secrets := map[secretKey]string{{"cnat-metrics-token", "token"}: token, {"cnat-metrics-cert", "ca.crt"}: string(certificate)}
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM([]byte(secrets[ours.TLSConfig.CA.Secret])))
	prometheus := &http.Client{Transport: transport.NewBearerAuthRoundTripper(secrets[ours.Authorization.Credentials], &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: ours.TLSConfig.ServerName, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true,
	})}

	p := e.start("--metrics-cert-dir=" + dir)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		response, err := prometheus.Get("https://" + p.metrics + "/metrics")
		require.NoError(c, err)
		defer response.Body.Close()
		assert.Equal(c, http.StatusOK, response.StatusCode)
	}, testcluster.TestTimeout, pause)
	p.signal(syscall.SIGTERM)

	p = e.start() // which makes its certificate itself
	require.Eventually(t, func() bool { code, _ := p.scrape(token); return code == http.StatusOK }, testcluster.TestTimeout, pause)
	_, err = prometheus.Get("https://" + p.metrics + "/metrics")
	require.ErrorContains(t, err, "failed to verify certificate")
	p.signal(syscall.SIGTERM)
}

func someNamespaces(t *testing.T, e *env) {
	for _, name := range []string{"here", "there", "elsewhere"} {
		e.namespace(name)
		e.create(name, "kettle")
	}
	e.layer("there")
	p := e.start("--namespaces=here,there")
	e.runs("here", "kettle")
	e.runs("there", "kettle")
	require.Eventually(t, func() bool { return e.colour("there") == "blue" }, testcluster.TestTimeout, pause)
	assert.Empty(t, e.phase("elsewhere", "kettle"))
	token := e.token("reader-of-some", mayReadMetrics)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		_, metrics := p.scrape(token)
		assert.Contains(t, metrics, "cnat_ats{phase=\"RUNNING\"} 2\n")
	}, testcluster.TestTimeout, pause)
	p.signal(syscall.SIGTERM)
}

// pair starts two managers, and returns the one that leads first.
func (e *env) pair() (leader, standby *process) {
	e.t.Helper()
	leader = e.start()
	leader.until(func() bool { return e.holder() == leader.metrics })
	standby = e.start()
	standby.ready() // a standby is ready, too
	assert.Equal(e.t, leader.metrics, e.holder())
	return leader, standby
}

// holder is the name of the manager that leads, or led last.
func (e *env) holder() string {
	lease := &coordinationv1.Lease{}
	if err := e.client.Get(e.t.Context(), client.ObjectKey{Namespace: "default", Name: leaseName}, lease); err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return name
}

func leaderKilled(t *testing.T, e *env) {
	e.namespace("killed")
	leader, standby := e.pair()
	leader.signal(syscall.SIGKILL)
	assert.Equal(t, leader.metrics, e.holder(), "it could not give the Lease back")
	e.create("killed", "kettle")
	e.runs("killed", "kettle")
	assert.Equal(t, standby.metrics, e.holder())
	standby.signal(syscall.SIGTERM)
}

func leaderStopped(t *testing.T, e *env) {
	e.namespace("stopped")
	leader, standby := e.pair()
	token := e.token("reader-of-two", mayReadMetrics)
	for p, hasQueue := range map[*process]bool{leader: true, standby: false} { // nobody would work on it
		require.Eventually(t, func() bool {
			code, body := p.scrape(token)
			return code == http.StatusOK && strings.Contains(body, `workqueue_depth{controller="controllerruntime"`) == hasQueue
		}, testcluster.TestTimeout, pause)
	}
	assert.Zero(t, leader.signal(syscall.SIGTERM))
	assert.NotEqual(t, leader.metrics, e.holder(), "it gave the Lease back")
	e.create("stopped", "kettle")
	e.runs("stopped", "kettle")
	assert.Equal(t, standby.metrics, e.holder())
	assert.Zero(t, standby.signal(syscall.SIGTERM))
	assert.Empty(t, e.holder())
}

func traces(t *testing.T, e *env) {
	e.namespace("traced")
	var mu sync.Mutex
	var received strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		mu.Lock()
		defer mu.Unlock()
		received.WriteString(r.URL.Path)
		received.Write(body) // protobuf, in which texts are to be found
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	p := e.start()
	e.create("traced", "kettle")
	e.layer("traced")
	e.runs("traced", "kettle")
	require.Eventually(t, func() bool { return e.colour("traced") == "blue" }, testcluster.TestTimeout, pause)
	assert.Zero(t, p.signal(syscall.SIGTERM)) // and sends what it has
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"/v1/traces", "cnat-manager", "reconcile At", "kettle", "reconcile settings", "traced", "HTTP POST", "/api/v1/namespaces/traced/pods"} {
		assert.Contains(t, received.String(), want)
	}
}

func doesNotStart(t *testing.T, e *env) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	const taken = `error: .*bind: address already in use; choose another with --metrics-bind-address \(now .*\) or --health-bind-address \(now .*\)\n`
	for flag, want := range map[string]string{
		"--metrics-bind-address=" + l.Addr().String(): taken,
		"--health-bind-address=" + l.Addr().String():  taken,
		"--metrics-token-file=/nowhere":               "error: reading the token of those who may read metrics: open /nowhere: no such file or directory; correct --metrics-token-file\n",
		"--metrics-cert-dir=/nowhere":                 "error: reading the certificate for metrics: open /nowhere/tls.crt: no such file or directory; correct --metrics-cert-dir\n",
	} {
		p := e.start(flag)
		assert.Equal(t, 1, p.exitCode())
		assert.Regexp(t, want, p.output.String())
	}
}

func withoutTheCRDs(t *testing.T, e *env) {
	p := e.start()
	assert.Equal(t, 1, p.exitCode())
	assert.Contains(t, p.output.String(), "error: the cluster does not know ats; create their CRD, which is in config/crd\n")
}
