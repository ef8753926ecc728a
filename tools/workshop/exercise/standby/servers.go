package standby

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"example.com/hacking-a-controller/tools/workshop/process"
)

// servers are an etcd and its API server. They are started in the background.
type servers struct {
	flags           flags
	dir             string
	etcd, apiServer string // addresses
	ports           held

	ctx     context.Context // until one of them ends
	cancel  context.CancelFunc
	started chan struct{} // closed when they can be used, or could not be started
	err     error         // why not
	taken   atomic.Bool

	endEtcd, endAPIServer func()
}

// start starts servers in the background.
func (s *Standby) start(f flags) *servers {
	ctx, cancel := context.WithCancel(s.ctx)
	n := &servers{flags: f, ctx: ctx, cancel: cancel, started: make(chan struct{}), endEtcd: func() {}, endAPIServer: func() {}}
	go func() {
		defer close(n.started)
		n.err = n.run(s.assets, s.timeout)
	}()
	return n
}

// run starts both programs, and returns when they can be used.
func (n *servers) run(assets string, timeout time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(n.ctx, timeout)
	defer cancel()
	if n.dir, err = os.MkdirTemp("", "standby-"); err != nil {
		return err
	}
	var peers string // nobody but etcd itself
	for _, address := range []*string{&n.etcd, &n.apiServer, &peers} {
		if *address, err = n.ports.hold(); err != nil {
			return err
		}
	}
	client := "http://" + n.etcd
	n.endEtcd, err = launch(n.cancel, filepath.Join(assets, etcd), "--data-dir="+filepath.Join(n.dir, "data"), "--unsafe-no-fsync", "--socket-reuse-port",
		"--listen-client-urls="+client, "--advertise-client-urls="+client, "--listen-peer-urls=http://"+peers)
	if err != nil {
		return err
	}
	if err := await(ctx, client+"/health", nil, isOK); err != nil {
		return err
	}
	if err := n.write(n.flags, nil); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(n.apiServer)
	if err != nil {
		return err
	}
	if n.endAPIServer, err = launch(n.cancel, filepath.Join(assets, apiServer), append(n.flags.in(n.dir, port, client), "--permit-port-sharing=true")...); err != nil {
		return err
	}
	return await(ctx, n.url("/readyz"), nil, isOK)
}

func (n *servers) url(path string) string { return "https://" + n.apiServer + path }

// ready waits until the servers can be used, and says whether they can.
func (n *servers) ready() bool {
	<-n.started
	return n.err == nil && n.ctx.Err() == nil
}

// end ends both, also while they are starting.
func (n *servers) end() {
	n.cancel()
	<-n.started
	n.endAPIServer()
	n.endEtcd()
	n.ports.free()
	_ = os.RemoveAll(n.dir)
}

// become gives the API server the certificates of another one with such flags. It reads
// them again when the files change; the key by which it signs tokens stays its own.
func (n *servers) become(ctx context.Context, f flags) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	probe, probeCA, err := newProbe()
	if err != nil {
		return err
	}
	if err := n.write(f, probeCA); err != nil {
		return err
	}
	want, err := tls.X509KeyPair(f.files["apiserver.crt"], f.files["apiserver.key"])
	if err != nil {
		return err
	}
	// That a client with the probe's certificate is known says that the others are, too.
	return await(ctx, n.url("/version"), &probe, func(r *http.Response) bool {
		return r.StatusCode == http.StatusOK && r.TLS.PeerCertificates[0].Equal(want.Leaf)
	})
}

// write writes the files of certificates, with one more authority for clients.
func (n *servers) write(f flags, authority []byte) error {
	for name, content := range f.files {
		if name == filepath.Base(value(f.args, "client-ca-file")) {
			content = append(slices.Clip(content), authority...)
		}
		if err := os.WriteFile(filepath.Join(n.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// launch starts a program, and returns what kills it. It calls ended when the program has
// ended, however that came.
func launch(ended func(), path string, args ...string) (end func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	command := process.Command(ctx, path, args...)
	if err := command.Start(); err != nil {
		cancel()
		return func() {}, err
	}
	done := make(chan struct{})
	go func() {
		_ = command.Wait()
		ended()
		close(done)
	}()
	return func() { cancel(); <-done }, nil
}

func isOK(r *http.Response) bool { return r.StatusCode == http.StatusOK }

// await waits for an answer, perhaps to a client with a certificate.
func await(ctx context.Context, url string, certificate *tls.Certificate, good func(*http.Response) bool) error {
	config := &tls.Config{InsecureSkipVerify: true} // who answers is on this machine, and is asked for no secret
	if certificate != nil {
		config.Certificates = []tls.Certificate{*certificate}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if good(response) {
				return nil
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("waiting for %s: %w", url, ctx.Err()), err)
		}
	}
}
