package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// errEmpty means that the bundle is no use to anybody.
var errEmpty = errors.New("there is no certificate of a CA in it; delete the ConfigMap, and the operator makes another")

// ClientConfig is how a client connects to a server of this name, if it has this bundle.
func ClientConfig(bundle []byte, name string) (*tls.Config, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, fmt.Errorf("reading ca.crt: %w", errEmpty)
	}
	return &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS13}, nil
}

// Newest returns the newest of the servers' certificates that a client with this bundle accepts
// now, as an index, or -1.
func Newest(bundle []byte, certificates [][]byte, name string, now time.Time) int {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	newest, at := -1, time.Time{}
	for i, content := range certificates {
		found := parse(content)
		if len(found) == 0 {
			continue
		}
		_, err := found[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: now})
		if err == nil && found[0].NotBefore.After(at) {
			newest, at = i, found[0].NotBefore
		}
	}
	return newest
}
