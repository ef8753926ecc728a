package standby

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
)

func TestMain(m *testing.M) {
	if IsStandIn(os.Args[0]) {
		os.Exit(StandIn(os.Args))
	}
	os.Exit(m.Run())
}

// A cluster is what a test starts: etcd and an API server, as envtest does.
type cluster struct {
	*testing.T
	etcd, apiServer *exec.Cmd
	args            []string // of the API server
	admin           *http.Client

	url, etcdURL, peerURL string
}

// newStandby needs the programs of the lab.
func newStandby(t *testing.T) *Standby {
	t.Helper()
	_ = os.Getenv("TEST_INPUTS") // Go's test cache sees that it is read: it holds a hash of the lab
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	require.NotEmpty(t, assets, "this test needs a real API server: run `make lab`, then `make test`, at the root of the repository")
	s, err := New(t.Context(), assets)
	require.NoError(t, err)
	s.timeout = max(s.timeout, exercisetest.Timeout)
	t.Cleanup(func() {
		assert.NoError(t, s.Close())
		assert.NoDirExists(t, s.dir)
	})
	return s
}

func newCluster(t *testing.T, flags ...string) *cluster {
	t.Helper()
	addresses := freeAddresses(t)
	dir := t.TempDir()
	clientCA, clientKey := newCA(t)
	serverCA, serverKey := newCA(t)
	writePair(t, filepath.Join(dir, "apiserver"), newCertificate(t, serverCA, serverKey, "localhost", ""))
	writePair(t, filepath.Join(dir, "sa-signer"), tls.Certificate{Certificate: [][]byte{serverCA.Raw}, PrivateKey: serverKey})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "client-ca.crt"), pemOf(clientCA.Raw), 0o600))
	pool := x509.NewCertPool()
	pool.AddCert(serverCA)
	c := &cluster{T: t, url: "https://" + addresses[0], etcdURL: "http://" + addresses[1], peerURL: "http://" + addresses[2]}
	c.admin = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: pool, Certificates: []tls.Certificate{newCertificate(t, clientCA, clientKey, "admin", "system:masters")},
	}}}
	t.Cleanup(c.admin.CloseIdleConnections)
	_, port, _ := strings.Cut(addresses[0], ":")
	c.args = append([]string{
		"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--cert-dir=" + dir,
		"--client-ca-file=" + filepath.Join(dir, "client-ca.crt"), "--disable-admission-plugins=ServiceAccount",
		"--etcd-servers=" + c.etcdURL, "--secure-port=" + port, "--service-account-issuer=" + c.url + "/",
		"--service-account-key-file=" + filepath.Join(dir, "sa-signer.crt"), "--service-account-signing-key-file=" + filepath.Join(dir, "sa-signer.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
	}, flags...)
	return c
}

func startCluster(t *testing.T, s *Standby, flags ...string) *cluster {
	t.Helper()
	c := newCluster(t, flags...)
	c.etcd = c.run(s, etcd, "--data-dir="+t.TempDir(), "--unsafe-no-fsync=true",
		"--advertise-client-urls="+c.etcdURL, "--listen-client-urls="+c.etcdURL, "--listen-peer-urls="+c.peerURL)
	c.answers(c.etcdURL + "/health")
	c.startAPIServer(s)
	return c
}

func (c *cluster) startAPIServer(s *Standby) {
	c.Helper()
	c.apiServer = c.run(s, apiServer, c.args...)
	c.answers(c.url + "/healthz")
}

func (c *cluster) answers(url string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), exercisetest.Timeout)
	defer cancel()
	require.NoError(c, await(ctx, url, nil, isOK))
}

func (c *cluster) run(s *Standby, program string, args ...string) *exec.Cmd {
	c.Helper()
	command := exec.Command(filepath.Join(s.dir, program), args...)
	command.Env = append(os.Environ(), s.Env()...)
	require.NoError(c, command.Start())
	c.Cleanup(func() { c.end(command, syscall.SIGKILL) })
	return command
}

func (c *cluster) end(command *exec.Cmd, signal syscall.Signal) {
	if command.ProcessState == nil {
		_ = command.Process.Signal(signal)
		_ = command.Wait()
	}
}

// namespaces does a request as the administrator.
func (c *cluster) namespaces(method, body string) string {
	c.Helper()
	request, err := http.NewRequestWithContext(c.Context(), method, c.url+"/api/v1/namespaces", bytes.NewBufferString(body))
	require.NoError(c, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.admin.Do(request)
	require.NoError(c, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(c, err)
	require.Less(c, response.StatusCode, 300, string(content))
	return string(content)
}

// standsIn says whether a program is a stand-in, and not the real one.
func (c *cluster) standsIn(s *Standby, command *exec.Cmd) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	servers := s.lent[c.etcdURL]
	if command == c.etcd {
		return servers != nil
	}
	return servers != nil && servers.taken.Load()
}

func TestEachRunFindsAnEmptyServer(t *testing.T) {
	s := newStandby(t)
	s.Prepare()
	require.False(t, s.Ready(), "nobody has wanted one")

	first := startCluster(t, s)
	assert.False(t, first.standsIn(s, first.etcd))
	first.namespaces(http.MethodPost, `{"metadata":{"name":"harbour"}}`)
	first.end(first.apiServer, syscall.SIGTERM)
	first.end(first.etcd, syscall.SIGTERM)

	s.Prepare()
	require.True(t, s.Ready())
	began := time.Now()
	second := startCluster(t, s)
	t.Logf("it was there after %s", time.Since(began))
	require.True(t, second.standsIn(s, second.apiServer))
	assert.NotContains(t, second.namespaces(http.MethodGet, ""), "harbour")
	second.namespaces(http.MethodPost, `{"metadata":{"name":"coast"}}`)

	// One that is killed and starts again is the real one, with the same data.
	s.mu.Lock()
	lent := s.lent[second.etcdURL]
	s.mu.Unlock()
	second.end(second.apiServer, syscall.SIGKILL)
	second.admin.CloseIdleConnections()
	second.startAPIServer(s)
	assert.Contains(t, second.namespaces(http.MethodGet, ""), "coast")
	assert.False(t, answers(lent.apiServer), "the one that stood by has ended")

	// Meanwhile others start their own.
	third := startCluster(t, s)
	assert.False(t, third.standsIn(s, third.etcd))
	second.end(second.etcd, syscall.SIGTERM)
	assert.Zero(t, second.etcd.ProcessState.ExitCode())
	require.Eventually(t, func() bool { return !answers(lent.etcd) && !exists(lent.dir) }, exercisetest.Timeout, 10*time.Millisecond)
}

func TestAnotherServerIsNotWhatIsWanted(t *testing.T) {
	s := newStandby(t)
	wanted, err := read(newCluster(t).args)
	require.NoError(t, err)
	s.mu.Lock()
	s.wanted = &wanted
	s.mu.Unlock()
	s.Prepare()
	require.True(t, s.Ready())
	s.mu.Lock()
	waiting := s.next
	s.mu.Unlock()
	c := startCluster(t, s, "--watch-cache-sizes=pods#0")
	assert.True(t, c.standsIn(s, c.etcd))
	c.namespaces(http.MethodGet, "")
	assert.False(t, answers(waiting.apiServer))
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.Equal(t, "pods#0", value(s.wanted.args, "watch-cache-sizes"), "the next one is")
}

func TestAServerThatDoesNotStartIsNoHindrance(t *testing.T) {
	s := newStandby(t)
	s.mu.Lock()
	s.wanted = &flags{args: []string{"--no-such-flag=1"}}
	s.mu.Unlock()
	s.Prepare()
	c := startCluster(t, s)
	assert.False(t, c.standsIn(s, c.etcd))
	c.namespaces(http.MethodGet, "")
}

// The path of a socket is short, and that of a temporary folder may be long.
func TestATemporaryFolderWithALongPath(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	require.NoError(t, os.Mkdir(long, 0o755))
	t.Setenv("TMPDIR", long)
	s, err := New(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// freeAddresses returns three where nobody listens. They cannot be held: a stand-in shares its port
// with nobody, as the programs do that envtest starts. The kernel gives each port from 32768 on
// to whoever wants any, so these are below.
func freeAddresses(t *testing.T) (addresses []string) {
	t.Helper()
	for len(addresses) < 3 {
		address := fmt.Sprintf("127.0.0.1:%d", 10000+mathrand.IntN(20000))
		if listener, err := net.Listen("tcp", address); err == nil {
			defer listener.Close()
			addresses = append(addresses, address)
		}
	}
	return addresses
}

func TestAPortIsHeldForAServerThatSharesIt(t *testing.T) {
	var ports held
	t.Cleanup(ports.free)
	address, err := ports.hold()
	require.NoError(t, err)
	other, err := ports.hold()
	require.NoError(t, err)
	require.NotEqual(t, address, other)
	_, err = net.Listen("tcp", address)
	require.ErrorIs(t, err, syscall.EADDRINUSE, "another program")
	assert.False(t, answers(address))

	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(socket uintptr) {
			assert.NoError(t, unix.SetsockoptInt(int(socket), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
		})
	}}
	server, err := config.Listen(t.Context(), "tcp", address)
	require.NoError(t, err)
	for range 20 {
		require.True(t, answers(address), "no connection comes to the socket that holds the port")
	}
	require.NoError(t, server.Close())
	ports.free()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
}

func answers(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func newCA(t *testing.T) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	raw, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return certificate, key
}

// authority has the same name each time, as that of envtest has.
var authority = &x509.Certificate{
	SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
}

func newCertificate(t *testing.T, ca *x509.Certificate, caKey *ecdsa.PrivateKey, name, group string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name, Organization: []string{group}}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, ca, key.Public(), caKey)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

func writePair(t *testing.T, path string, pair tls.Certificate) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".crt", pemOf(pair.Certificate[0]), 0o600))
	require.NoError(t, os.WriteFile(path+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
}

func pemOf(raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}
