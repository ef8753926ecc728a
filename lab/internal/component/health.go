package component

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
)

// healthTimeout bounds one health check.
const healthTimeout = 3 * time.Second

// Checker asks components how they are.
type Checker struct {
	client *http.Client
	// prober trusts everybody.
	prober *http.Client
}

// NewChecker returns a checker that trusts both authorities of the lab and has a
// client certificate of each: TLS picks the one that the server accepts. The
// administrator's is needed because RBAC, which lets everybody see /readyz, is
// itself one of the things that are not ready yet.
func NewChecker(l layout.Layout) (*Checker, error) {
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	for authority, client := range map[string]string{pki.CA: pki.Admin, pki.EtcdCA: pki.EtcdClient} {
		root, rootErr := os.ReadFile(l.Cert(authority))
		pair, pairErr := tls.LoadX509KeyPair(l.Cert(client), l.Key(client))
		if err := cmp.Or(rootErr, pairErr); err != nil {
			return nil, fmt.Errorf("reading the lab's certificates (to make new ones: lab down, then lab up): %w", err)
		}
		config.RootCAs.AppendCertsFromPEM(root)
		config.Certificates = append(config.Certificates, pair)
	}
	return &Checker{
		client: newClient(config),
		prober: newClient(&tls.Config{InsecureSkipVerify: true}), //nolint:gosec // a static pod makes its certificate itself
	}, nil
}

func newClient(config *tls.Config) *http.Client {
	return &http.Client{
		Timeout:   healthTimeout,
		Transport: &http.Transport{TLSClientConfig: config, IdleConnTimeout: healthTimeout},
	}
}

// Check returns nil when url answers 200, else what is wrong in a few words.
func (c *Checker) Check(ctx context.Context, url string) error { return check(ctx, c.client, url) }

// Probe is Check as a kubelet does it: it shows no certificate, and believes any.
func (c *Checker) Probe(ctx context.Context, url string) error { return check(ctx, c.prober, url) }

func check(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("%s: %s", resp.Status, failedChecks(string(body)))
}

// failedChecks picks from a /readyz answer the names of the checks that failed:
// they are the lines that begin with [-].
func failedChecks(body string) string {
	var failed []string
	for line := range strings.Lines(body) {
		if name, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ = strings.Cut(name, " ")
			failed = append(failed, name)
		}
	}
	if len(failed) == 0 {
		return strings.TrimSpace(body)
	}
	return "waiting for " + strings.Join(failed, ", ")
}
