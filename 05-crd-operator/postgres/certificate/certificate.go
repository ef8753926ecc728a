// Package certificate makes the certificates that encrypt the connections to a PostgresCluster,
// and decides when the next one is made.
//
// Each CA signs one certificate. Its key is never stored, so nobody can sign another. Clients
// have a bundle with the CAs, and members a certificate with its key in each of two slots, which
// take turns. The next CA is in the bundle for an hour before its certificate is valid:
//
//	bundle   CA 1 ------------------------------+
//	                        CA 2 ------------------------------------ ...
//	valid    1 ---------------------------------+
//	                          2 -------------------------------------- ...
//	         0              8 months         12 months
//
// So a client accepts what a member has, although neither learns at once of what is new.
//
//	certificate.go   a CA and what it signs
//	bundle.go        which CAs there are, and when the next is due
//	client.go        what a client accepts
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// Lifetime is how long a certificate is valid.
const Lifetime = 365 * 24 * time.Hour

// Issued is a CA, and the certificate and key of a server that it has signed. All are PEM.
type Issued struct {
	CA, Certificate, Key []byte
}

// issue makes a CA and has it sign a certificate for a server with these names.
func issue(owner string, number int64, names []string, from time.Time) (Issued, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Issued{}, err
	}
	ca := &x509.Certificate{
		SerialNumber:          big.NewInt(number),
		Subject:               pkix.Name{Organization: []string{owner}, CommonName: fmt.Sprintf("CA %d", number)},
		NotBefore:             from,
		NotAfter:              from.Add(Lifetime),
		IsCA:                  true,
		MaxPathLenZero:        true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return Issued{}, err
	}
	if ca, err = x509.ParseCertificate(caDER); err != nil { // now with the identity of its key
		return Issued{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Issued{}, err
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(number),
		Subject:      pkix.Name{CommonName: names[0]},
		DNSNames:     names,
		NotBefore:    from,
		NotAfter:     from.Add(Lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, ca, key.Public(), caKey)
	if err != nil {
		return Issued{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Issued{}, err
	}
	return Issued{CA: encode(certificateBlock, caDER), Certificate: encode(certificateBlock, serverDER), Key: encode("PRIVATE KEY", keyDER)}, nil
}

// certificateBlock is the type of a certificate in PEM.
const certificateBlock = "CERTIFICATE"

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
