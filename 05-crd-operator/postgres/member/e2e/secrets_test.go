package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
)

// passwords are those that the Secrets begin with, by the names of roles.
var passwords = map[string]string{
	"postgres":    `pass:word\ of 'all'`,
	"replication": `repli:cation\ of 'all'`,
	"app":         `appli:cation\ of 'all'`,
}

// writeSecrets writes what a kubelet makes of the Secrets of a cluster.
func (e *env) writeSecrets() {
	e.Helper()
	for role, password := range passwords {
		e.setPassword(role, password)
	}
	e.issue(1, time.Now())
}

func (e *env) setPassword(role, password string) {
	e.Helper()
	e.writeFile(filepath.Join("secrets", role, "password"), password+"\n")
}

// issue puts a certificate into a slot, and its CA into the bundle.
func (e *env) issue(slot int, now time.Time) {
	e.Helper()
	bundle := certificate.Read(e.bundle, "uid")
	issued, err := bundle.Issue([]string{"db", "db-1", "db-2", "db-3"}, now)
	require.NoError(e, err)
	e.bundle = append(bundle.PEM(), issued.CA...)
	name := filepath.Join("secrets", "tls", strconv.Itoa(slot))
	e.writeFile(name+".key", string(issued.Key))
	e.writeFile(name+".crt", string(issued.Certificate))
	e.writeFile(filepath.Join("secrets", "ca.crt"), string(e.bundle))
}

// dialAs connects a client to the member's PostgreSQL, over TLS.
func (a *agent) dialAs(role, password string) (*pgconn.PgConn, error) {
	config, err := a.clientConfig(role, password)
	if err != nil {
		return nil, err
	}
	return pgconn.ConnectConfig(a.Context(), config)
}

// clientConfig is that of a client that has all that it needs.
func (a *agent) clientConfig(role, password string) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig("sslmode=disable dbname=postgres host=" + host(a.address) + " port=" + port(a.address))
	if err != nil {
		return nil, err
	}
	config.User, config.Password = role, password
	config.TLSConfig, err = certificate.ClientConfig(a.bundle, "db")
	return config, err
}

// shareSecrets gives the members those of another cluster.
func (e *env) shareSecrets(other *env) {
	e.Helper()
	folder := filepath.Join(e.folder, "secrets")
	require.NoError(e, os.RemoveAll(folder))
	require.NoError(e, os.Symlink(filepath.Join(other.folder, "secrets"), folder))
	e.bundle = other.bundle
}
