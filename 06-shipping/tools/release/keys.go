package release

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of a key pair. cosign reads the public key as it is, and the private one
// with `cosign import-key-pair`, which encrypts it.
const (
	privateFile = "private.pem"
	publicFile  = "cosign.pub"
)

// writeKeys makes a key pair in a folder, and never replaces one: what is signed with a
// lost key cannot be signed again.
func writeKeys(folder string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	pkix, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of the keys: %w", err)
	}
	// The public key comes second, so that it never stands beside another private one.
	if err := writeNew(filepath.Join(folder, privateFile), 0o600, &pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}); err != nil {
		return err
	}
	return writeNew(filepath.Join(folder, publicFile), 0o644, &pem.Block{Type: "PUBLIC KEY", Bytes: pkix})
}

func writeNew(path string, mode fs.FileMode, block *pem.Block) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and is not replaced; choose another folder", path)
	}
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(file, block), file.Close())
}

func readPrivate(path string) (*ecdsa.PrivateKey, error) {
	der, err := readPEM(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if private, ok := key.(*ecdsa.PrivateKey); err == nil && ok {
		return private, nil
	}
	return nil, fmt.Errorf("%s has no private key for ECDSA; make one with release keys", path)
}

func readPublic(path string) (*ecdsa.PublicKey, error) {
	der, err := readPEM(path, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if public, ok := key.(*ecdsa.PublicKey); err == nil && ok {
		return public, nil
	}
	return nil, fmt.Errorf("%s has no public key for ECDSA; make one with release keys", path)
}

func readPEM(path, kind string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w; name another with --key", err)
	}
	block, _ := pem.Decode(content)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s is no file that begins with -----BEGIN %s-----; name another with --key", path, kind)
	}
	return block.Bytes, nil
}

// signBytes makes the same signature each time: without a source of random numbers, Go
// takes the deterministic form of ECDSA (RFC 6979).
func signBytes(key *ecdsa.PrivateKey, content []byte) ([]byte, error) {
	sum := sha256.Sum256(content)
	return key.Sign(nil, sum[:], crypto.SHA256)
}

func isSignedBy(key *ecdsa.PublicKey, content, signature []byte) bool {
	sum := sha256.Sum256(content)
	return ecdsa.VerifyASN1(key, sum[:], signature)
}
