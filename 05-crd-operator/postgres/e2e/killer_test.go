package e2e

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// TestTheOperatorIsKilledAtEachStep has the operator live for one write at a time, through a
// failover and a recovery: each step is taken by another operator, which knows only what is in
// the API and what it observes.
func TestTheOperatorIsKilledAtEachStep(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	e.killOperator() // its connections are direct
	k := e.startKiller()
	e.startOperator()
	e.create(name, postgres.PostgresClusterSpec{Size: 2})
	before := e.settles()
	writer, watcher := e.startWriter(), e.startWatcher()
	watcher.sees(before.PrimaryUID)

	k.armed.Store(true)
	require.NoError(t, e.signalAgent(before.PrimaryUID, syscall.SIGKILL))
	k.killsUntil("it is as it should be", func(c *postgres.PostgresCluster) bool {
		return c.Status.Term > before.Term && settled(c) == nil && e.membersAreReady(2) == nil
	})
	watcher.sees(e.settles().PrimaryUID)
	writer.goesOn()

	e.patch(`"backup":{"schedule":"@every 1h","keep":2,"storage":"1Gi","archiveTimeout":"2s","onDelete":"Delete"}`)
	e.kubectl("wait", "postgrescluster", name, "--for=condition=BackedUp", timeout)
	e.settles()
	to := e.losesAllDisks(writer)
	before = e.status() // while it is paused: until then, a slow machine may have cost it a term
	k.armed.Store(true)
	e.patch(`"paused":false`)
	// From then on the status changes with each second of the archive, so all would be done in it.
	k.killsUntil("it takes writes", func(c *postgres.PostgresCluster) bool {
		return c.Status.Term > before.Term && plan.Serving(c.Status.Phase)
	})
	watcher.sees(e.settles().PrimaryUID)
	writer.goesOn()
	writer.losesOnlyAfter(to) // so none at the failover
	e.deleteCluster()
}

// killer stands between an operator and the API server. While it is armed, it holds back the
// answer to each write, until the operator is killed.
type killer struct {
	*env
	armed atomic.Bool
	wrote chan string
}

// startKiller has the operators of the namespace that start later talk to a killer.
func (e *env) startKiller() *killer {
	e.Helper()
	k := &killer{env: e, wrote: make(chan string)}
	config, err := clientcmd.BuildConfigFromFlags("", e.kubeconfig())
	require.NoError(e, err)
	server, err := url.Parse(config.Host)
	require.NoError(e, err)
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config)) // the operator's token goes through
	require.NoError(e, err)
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(server) },
		Transport:      transport,
		FlushInterval:  -1, // watches
		ModifyResponse: k.answer,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	e.Cleanup(func() {
		e.stopOperator() // or its watches would keep the proxy from closing
		proxy.Close()
	})

	kubeconfig, err := clientcmd.LoadFromFile(e.operatorKubeconfig())
	require.NoError(e, err)
	for _, cluster := range kubeconfig.Clusters {
		cluster.Server, cluster.CertificateAuthorityData = proxy.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})
	}
	require.NoError(e, clientcmd.WriteToFile(*kubeconfig, e.operatorKubeconfig()))
	return k
}

// answer is called with each answer of the API server.
func (k *killer) answer(response *http.Response) error {
	request := response.Request
	refused := response.StatusCode >= http.StatusMultipleChoices // as with what is there already
	if !k.armed.Load() || refused || request.Method == http.MethodGet || strings.Contains(request.URL.Path, "/events") {
		return nil
	}
	ctx := request.Context()
	select {
	case k.wrote <- request.Method + " " + request.URL.Path:
		<-ctx.Done()
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// killsUntil kills one operator after the other, each after its first write, until something is so.
// Then it is disarmed, and the last one, whose answer may be held back, too, is killed.
func (k *killer) killsUntil(what string, is func(*postgres.PostgresCluster) bool) {
	k.Helper()
	defer func() {
		k.armed.Store(false)
		k.killOperator()
		k.startOperator()
	}()
	late := time.After(2 * testcluster.TestTimeout)
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	var writes []string
	for {
		select {
		case write := <-k.wrote:
			writes = append(writes, write)
			k.killOperator()
			k.startOperator()
		case <-ticker.C:
			if c, err := k.cluster(); err == nil && is(c) {
				assert.Greater(k, len(writes), 4, "the operator was killed after %q", writes)
				k.Logf("the operator was killed %d times: %s", len(writes), strings.Join(writes, ", "))
				return
			}
		case <-late:
			require.FailNow(k, "waited in vain until "+what, "the operator was killed after %q", writes)
		}
	}
}
