// Package pki makes the lab's certificates: an authority for each circle of trust, a serving
// certificate for everything that listens, and a client certificate for
// everyone who calls. It is kubeadm's scheme, made small.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
)

// How long certificates live. Leaves are signed again at every start of the lab.
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// subject describes a certificate to be signed.
type subject struct {
	// User becomes the user name when the certificate authenticates a client.
	User string
	// Groups become the user's groups.
	Groups []string
	// Hosts, if any, make this a serving certificate for these names and addresses.
	Hosts []string
	// Client makes it valid for authenticating to a server.
	Client bool
}

// newAuthority is what it means that an authority cannot be kept.
const newAuthority = "the lab gets a new authority, and from it new certificates; a copy of its kubeconfig has to be made again"

// loadOrCreateAuthority keeps an authority that exists: what it signed earlier
// stays valid. One that is broken, or not valid now, it replaces, and says so.
func loadOrCreateAuthority(name, certFile, keyFile string) (a *authority, sentences []string, err error) {
	a, err = loadAuthority(certFile, keyFile)
	switch now := time.Now(); {
	case err == nil && !now.Before(a.cert.NotBefore) && !now.After(a.cert.NotAfter):
		return a, nil, nil
	case err == nil:
		sentences = []string{fmt.Sprintf("%s is valid from %s to %s, and the clock says %s: %s", certFile,
			a.cert.NotBefore.Format(time.RFC3339), a.cert.NotAfter.Format(time.RFC3339), now.UTC().Format(time.RFC3339), newAuthority)}
	default:
		sentences, err = atomicfile.SetAsideIfBroken(err, newAuthority)
	}
	if err != nil {
		return nil, nil, err
	}
	a, err = createAuthority(name, certFile, keyFile)
	return a, sentences, err
}

func createAuthority(name, certFile, keyFile string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the authority %s: %w", name, err)
	}
	if err := writePair(certFile, keyFile, der, key); err != nil {
		return nil, err
	}
	return loadAuthority(certFile, keyFile)
}

func loadAuthority(certFile, keyFile string) (*authority, error) {
	cert, err := readPEM(certFile, x509.ParseCertificate)
	if err != nil {
		return nil, err
	}
	key, err := readPEM(keyFile, x509.ParseECPrivateKey)
	if err != nil {
		return nil, err
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, &atomicfile.BrokenError{Path: keyFile, Err: errors.New("it is not the key of " + certFile)}
	}
	return &authority{cert: cert, key: key}, nil
}

// issue signs a new key pair and writes it.
func (a *authority) issue(s subject, certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: s.User, Organization: s.Groups},
		NotBefore:    time.Now().Add(-time.Minute),
		NotAfter:     time.Now().Add(leafLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if len(s.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if s.Client {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	for _, host := range s.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("signing the certificate of %s: %w", s.User, err)
	}
	return writePair(certFile, keyFile, der, key)
}

func writePair(certFile, keyFile string, certDER []byte, key *ecdsa.PrivateKey) error {
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(keyFile, "EC PRIVATE KEY", keyDER); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", certDER)
}

func writePEM(file, kind string, der []byte) error {
	return atomicfile.Write(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func readPEM[T any](file string, parse func(der []byte) (*T, error)) (*T, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, &atomicfile.BrokenError{Path: file, Err: errors.New("there is no PEM block in it")}
	}
	value, err := parse(block.Bytes)
	if err != nil {
		return nil, &atomicfile.BrokenError{Path: file, Err: err}
	}
	return value, nil
}
