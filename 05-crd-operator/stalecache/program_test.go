package stalecache

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"example.com/hacking-a-controller/testcluster"
)

// program is what a manager has for its clients: a cache, and a client of it.
type program struct {
	cluster.Cluster
	store    toolscache.Store // of its informer of ConfigMaps
	watches  *testcluster.Gate
	requests atomic.Int64 // but for watches
}

func startProgram(t testing.TB, config *rest.Config, readYourWrites bool) *program {
	t.Helper()
	isWatch := func(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }
	p := &program{watches: testcluster.NewGate(t, isWatch)}
	config = rest.CopyConfig(config)
	p.watches.Wrap(config)
	testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if !isWatch(r) {
			p.requests.Add(1)
		}
		return next.RoundTrip(r)
	})(config)
	var err error
	p.Cluster, err = cluster.New(config, func(o *cluster.Options) {
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}
	})
	require.NoError(t, err)
	ctx, _ := testcluster.Run(t, p.Start)
	informer, err := p.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
	require.NoError(t, err)
	p.store = informer.(toolscache.SharedIndexInformer).GetStore()
	return p
}
