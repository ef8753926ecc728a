package faults

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
)

// The headers in which the API server believes a front proxy, and nobody else, who a user is.
const (
	identityPrefix = "X-Remote-"
	userHeader     = identityPrefix + "User"
	groupHeader    = identityPrefix + "Group"
)

// Credentials are what the proxy needs to stand between a client and the API server. Each is a
// path to a PEM file.
type Credentials struct {
	CA                    string // of the API server and of its clients
	ServingCert           string
	ServingKey            string
	FrontProxyCert        string
	FrontProxyKey         string
	certificate, frontend tls.Certificate
	authority             *x509.CertPool
}

// load reads the files.
func (c *Credentials) load() (err error) {
	if c.authority, err = loadAuthority(c.CA); err != nil {
		return err
	}
	if c.certificate, err = tls.LoadX509KeyPair(c.ServingCert, c.ServingKey); err != nil {
		return err
	}
	c.frontend, err = tls.LoadX509KeyPair(c.FrontProxyCert, c.FrontProxyKey)
	return err
}

func loadAuthority(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return pool, err
}

// serving asks a client for the certificate that it would show to the API server. A client
// without one may have a token.
func (c *Credentials) serving() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{c.certificate},
		ClientCAs:    c.authority,
		ClientAuth:   tls.VerifyClientCertIfGiven,
		MinVersion:   tls.VersionTLS12,
		// HTTP/1 only: then each watch has a connection of its own, which can be cut.
		NextProtos: []string{"http/1.1"},
	}
}

// transport lends nobody a right. For a client whose certificate was verified it vouches, by that
// certificate's name. Any other request it passes on as it came, with its token, or with nothing.
func (c *Credentials) transport() http.RoundTripper {
	connect := func(certificates ...tls.Certificate) *http.Transport {
		return &http.Transport{
			TLSClientConfig:    &tls.Config{RootCAs: c.authority, Certificates: certificates, MinVersion: tls.VersionTLS12},
			DisableCompression: true,
		}
	}
	return byIdentity{vouched: connect(c.frontend), plain: connect()}
}

type byIdentity struct{ vouched, plain *http.Transport }

func (t byIdentity) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get(userHeader) != "" {
		return t.vouched.RoundTrip(r)
	}
	return t.plain.RoundTrip(r)
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] looks for.
func (t byIdentity) CloseIdleConnections() {
	t.vouched.CloseIdleConnections()
	t.plain.CloseIdleConnections()
}

// identify makes the headers say who the client is, by the certificate that was verified, whatever
// it has written into them.
func identify(header http.Header, connection *tls.ConnectionState) {
	for name := range header {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), identityPrefix) {
			delete(header, name)
		}
	}
	if connection == nil || len(connection.VerifiedChains) == 0 {
		return
	}
	subject := connection.VerifiedChains[0][0].Subject
	header.Set(userHeader, subject.CommonName)
	for _, group := range subject.Organization {
		header.Add(groupHeader, group)
	}
}
