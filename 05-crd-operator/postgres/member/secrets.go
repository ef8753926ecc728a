package member

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
)

// secrets is the folder with what the Secrets of the cluster have. The kubelet replaces a file
// when its Secret changes, so each is read when it is needed.
//
//	postgres/password, replication/password, app/password
//	ca.crt              the CAs that clients trust
//	tls/1.crt, 1.key    a certificate and its key; or both are named 2, or there are two pairs
type secrets string

func (s secrets) bundle() string { return filepath.Join(string(s), "ca.crt") }

// password returns that of a role.
func (s secrets) password(role string) (string, error) {
	path := filepath.Join(string(s), role, "password")
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the password of %s: %w", role, err)
	}
	password := strings.TrimRight(string(content), "\r\n")
	// PostgreSQL normalizes other characters, and its files have one password in a line.
	if password == "" || strings.ContainsFunc(password, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("reading the password of %s: %s %w; change it in the Secret", role, path, errInvalid)
	}
	return password, nil
}

var errInvalid = errors.New("is empty or has other characters than printable ASCII")

// invalidPasswords are the roles whose passwords cannot be used. A member starts without them, and
// goes on with those that PostgreSQL has.
func (s secrets) invalidPasswords() (invalid []string) {
	for _, role := range roles {
		if _, err := s.password(role.name); errors.Is(err, errInvalid) {
			invalid = append(invalid, role.name)
		}
	}
	return invalid
}

// passwords returns those of all roles, by their names.
func (s secrets) passwords() (map[string]string, error) {
	all := map[string]string{}
	for _, role := range roles {
		password, err := s.password(role.name)
		if err != nil {
			return nil, err
		}
		all[role.name] = password
	}
	return all, nil
}

// client is how this member connects to another.
func (s secrets) client(name string) (*tls.Config, error) {
	bundle, err := os.ReadFile(s.bundle())
	if err != nil {
		return nil, err
	}
	return certificate.ClientConfig(bundle, name)
}

var errNoCertificate = errors.New("no certificate in the folder tls is valid now for this member and signed by a CA in ca.crt; the operator issues one when the ConfigMap with ca.crt is deleted")

// pair returns the certificate that this member shows to clients, and its key.
func (s secrets) pair(name string, now time.Time) (cert, key []byte, err error) {
	bundle, err := os.ReadFile(s.bundle())
	if err != nil {
		return nil, nil, err
	}
	slots := []string{"1", "2"}
	certificates := make([][]byte, len(slots))
	for i, slot := range slots {
		certificates[i], err = os.ReadFile(filepath.Join(string(s), "tls", slot+".crt"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, err
		}
	}
	newest := certificate.Newest(bundle, certificates, name, now)
	if newest < 0 {
		return nil, nil, errNoCertificate
	}
	if key, err = os.ReadFile(filepath.Join(string(s), "tls", slots[newest]+".key")); err != nil {
		return nil, nil, err
	}
	if _, err := tls.X509KeyPair(certificates[newest], key); err != nil {
		return nil, nil, fmt.Errorf("reading the certificate: %w", err) // one of the files may be newer
	}
	return certificates[newest], key, nil
}

// refreshEvery is how often the agent looks for a Secret that has changed.
const refreshEvery = time.Second

// refresh gives a PostgreSQL that runs what has changed in the Secrets, and takes from it what
// somebody else has set. If that fails, it goes on with what it has.
func (a *agent) refresh(ctx context.Context) {
	if !a.server.running() || time.Since(a.refreshed) < refreshEvery {
		return
	}
	a.refreshed = time.Now()
	changed, err := a.server.installCertificate()
	if err == nil && changed {
		klog.FromContext(ctx).Info("PostgreSQL has another certificate")
	}
	altered, dropErr := a.server.dropAltered(promised)
	if changed || altered {
		err = errors.Join(err, a.server.signalReload())
	}
	if err = errors.Join(err, dropErr, a.server.writePassfile()); err != nil {
		klog.FromContext(ctx).Error(err, "what is in the Secrets could not be refreshed; trying again")
	}
}

// installCertificate copies the certificate and its key to where PostgreSQL reads them: it takes
// no key that others may read. It reports whether they are others than before.
func (s *server) installCertificate() (changed bool, err error) {
	certificate, key, err := s.settings.secrets.pair(s.settings.member, time.Now())
	if err != nil {
		return false, err
	}
	if before, err := os.ReadFile(s.settings.certificate()); err == nil && bytes.Equal(before, certificate) {
		return false, nil
	}
	if err := replaceFile(s.settings.key(), string(key)); err != nil {
		return false, err
	}
	return true, replaceFile(s.settings.certificate(), string(certificate))
}

// writePassfile writes the password that PostgreSQL receives with. It reads the file whenever it
// connects. If it is to receive from nobody, there is none.
func (s *server) writePassfile() error {
	path := s.settings.passfile()
	if s.settings.primary.address == "" {
		return os.RemoveAll(path)
	}
	password, err := s.settings.secrets.password(replicator)
	if err != nil {
		return err
	}
	content := "*:*:*:*:" + strings.NewReplacer(`\`, `\\`, `:`, `\:`).Replace(password) + "\n"
	if before, err := os.ReadFile(path); err == nil && string(before) == content {
		return nil
	}
	return replaceFile(path, content)
}
