package testrights

import (
	"encoding/pem"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// StartProxy starts a proxy that ends with the test, and returns a configuration that leads
// through it. It records what other processes ask, with the rights of the given configuration.
func (r *Requests) StartProxy(t testing.TB, config *rest.Config) *rest.Config {
	t.Helper()
	config = rest.CopyConfig(config)
	r.Watch(config)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	server := httptest.NewTLSServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(request *httputil.ProxyRequest) { request.SetURL(target) },
	})
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}
