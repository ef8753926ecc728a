package member

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

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
		err = errors.Join(err, a.server.current().cmd.Process.Signal(syscall.SIGHUP))
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
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
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
