package stalecache

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
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
	frozen   *frozen
	requests atomic.Int64 // that were answered, but for watches
}

func startProgram(t testing.TB, config *rest.Config, readYourWrites bool) *program {
	t.Helper()
	p := &program{frozen: newFrozen()}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil && r.URL.Query().Get("watch") == "true" {
				response.Body = &stream{ReadCloser: response.Body, frozen: p.frozen, closed: make(chan struct{})}
			} else {
				p.requests.Add(1)
			}
			return response, err
		})
	})
	var err error
	p.Cluster, err = cluster.New(config, func(o *cluster.Options) {
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Start(ctx) }()
	t.Cleanup(func() {
		p.frozen.release()
		cancel()
		assert.NoError(t, <-done)
	})
	informer, err := p.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
	require.NoError(t, err)
	p.store = informer.(toolscache.SharedIndexInformer).GetStore()
	return p
}

// frozen holds back what watches bring, while it is shut.
type frozen struct {
	mu   sync.Mutex
	open chan struct{} // closed while nothing is held back
}

func newFrozen() *frozen {
	f := &frozen{open: make(chan struct{})}
	close(f.open)
	return f
}

func (f *frozen) shut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = make(chan struct{})
}

func (f *frozen) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.open:
	default:
		close(f.open)
	}
}

func (f *frozen) wait() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// stream is the body of a watch.
type stream struct {
	io.ReadCloser
	frozen *frozen
	once   sync.Once
	closed chan struct{}
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	select {
	case <-s.frozen.wait():
	case <-s.closed:
	}
	return n, err
}

func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.ReadCloser.Close()
}
