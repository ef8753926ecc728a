package faults

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// startServer starts an API server that answers with what it knows of its caller.
func startServer(t *testing.T, l layout.Layout) *url.URL {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if peers := r.TLS.PeerCertificates; len(peers) > 0 {
			name = peers[0].Subject.CommonName
		}
		fmt.Fprintf(w, "%s for %v in %v, %v", name, r.Header["X-Remote-User"], r.Header["X-Remote-Group"], r.Header["Authorization"])
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair(t, l, pki.APIServer)}, ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	return address
}

func pair(t *testing.T, l layout.Layout, name string) tls.Certificate {
	certificate, err := tls.LoadX509KeyPair(l.Cert(name), l.Key(name))
	require.NoError(t, err)
	return certificate
}

// startProxy runs a proxy until the test ends.
func startProxy(t *testing.T) (l layout.Layout, address string) {
	l, err := layout.New(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, l.Create())
	_, err = pki.Create(l, "node", "10.0.0.1")
	require.NoError(t, err)
	t.Chdir(l.Root())
	faults := newSet()
	d, err := openDoor(Options{
		Address: "127.0.0.1:0", Server: startServer(t, l), Requests: io.Discard,
		Credentials: Credentials{
			CA:          l.Cert(pki.CA),
			ServingCert: l.Cert(pki.APIServer), ServingKey: l.Key(pki.APIServer),
			FrontProxyCert: l.Cert(pki.FrontProxyClient), FrontProxyKey: l.Key(pki.FrontProxyClient),
		},
	}, faults)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- takeCommands(ctx, "faults.sock", &Control{faults: faults, door: d}) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
		d.close()
		assert.NoFileExists(t, "faults.sock")
	})
	return l, d.address
}

// dial waits until the proxy takes commands.
func dial(t *testing.T, l layout.Layout) (client *Client) {
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var err error
		client, err = Dial(l.FaultsSocket())
		require.NoError(c, err)
	}, testenv.Timeout(), 10*time.Millisecond)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestTheProxyLendsNobodyARight(t *testing.T) {
	l, address := startProxy(t)
	dial(t, l)
	authority, err := loadAuthority(l.Cert(pki.CA))
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		shows string // the name of the certificate
		token string
		want  string
		err   string
	}{
		"an administrator":                      {pki.Admin, "", "front-proxy-client for [kubernetes-admin] in [system:masters], []", ""},
		"a user with less":                      {pki.SchedulerClient, "", "front-proxy-client for [system:kube-scheduler] in [], []", ""},
		"a service account":                     {"", "Bearer token", "nobody for [] in [], [Bearer token]", ""},
		"nobody":                                {"", "", "nobody for [] in [], []", ""},
		"a certificate of some other authority": {pki.EtcdClient, "", "", "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			config := &tls.Config{RootCAs: authority}
			if tc.shows != "" { // also to a server that does not name its authority
				certificate := pair(t, l, tc.shows)
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address, nil)
			require.NoError(t, err)
			r.Header = http.Header{"X-Remote-User": {"root"}, "X-Remote-Group": {"system:masters"}, "X-Remote-Uid": {"0"}, "Connection": {"X-Remote-Group"}}
			if tc.token != "" {
				r.Header.Set("Authorization", tc.token)
			}
			transport := &http.Transport{TLSClientConfig: config}
			defer transport.CloseIdleConnections()
			response, err := transport.RoundTrip(r)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Equal(t, tc.want, string(body))
		})
	}
}

func TestAnOutageRefusesConnectionsUntilItIsHealed(t *testing.T) {
	l, address := startProxy(t)
	commands := dial(t, l)
	cut, frozen := Fault{Kind: Cut}, Fault{Kind: Freeze, Target: "pods"}
	require.NoError(t, commands.Add(frozen))
	require.NoError(t, commands.Add(cut))
	require.NoError(t, commands.Add(cut), "twice is harmless")
	all, err := commands.List()
	require.NoError(t, err)
	assert.Equal(t, []Fault{frozen, cut}, all)
	_, err = net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)

	ended, err := commands.Heal(Cure{Kind: Freeze})
	require.NoError(t, err)
	assert.Equal(t, []Fault{frozen}, ended)
	_, err = net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "it is thawed and not healed")

	ended, err = commands.Heal(Cure{})
	require.NoError(t, err)
	assert.Equal(t, []Fault{cut}, ended)
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, connection.Close())
}
