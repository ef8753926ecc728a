package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
)

// PostgreSQL's codes for a client that it does not admit.
const (
	wrongPassword = "28P01"
	noRule        = "28000" // in pg_hba.conf
)

// admits waits until a role can connect.
func (a *agent) admits(role, password string) *pgconn.PgConn {
	a.Helper()
	var conn *pgconn.PgConn
	var err error
	a.eventually(func() bool { conn, err = a.dialAs(role, password); return err == nil }, "%s admits %s", a.name, role)
	a.Cleanup(func() { conn.Close(a.Context()) })
	return conn
}

// refuses asserts that a client is refused, and why.
func (a *agent) refuses(config *pgconn.Config, code string) {
	a.Helper()
	_, err := pgconn.ConnectConfig(a.Context(), config)
	refused, ok := errors.AsType[*pgconn.PgError](err)
	require.True(a, ok, "%v", err)
	assert.Equal(a, code, refused.Code)
}

// configure returns the configuration of a client of a member that runs.
func (a *agent) configure(role, password string) *pgconn.Config {
	a.Helper()
	a.awaits("runs", func(r report) bool { return r.Running })
	config, err := a.clientConfig(role, password)
	require.NoError(a, err)
	return config
}

func TestPasswordsChangeWithoutARestart(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	running := func() []int { return []int{first.postgreSQL(), second.postgreSQL()} }
	before := running()
	first.alters("log_statement = 'all'")
	for role, old := range passwords {
		e.setPassword(role, "new "+old)
		for _, member := range []*agent{first, second} { // which has replayed it
			member.admits(role, "new "+old)
			member.refuses(member.configure(role, old), wrongPassword)
		}
	}
	e.eventually(func() bool {
		files, err := filepath.Glob(filepath.Join(e.folder, "pg-*", "pgpass")) // a primary has none
		require.NoError(t, err)
		if len(files) != 1 {
			return false
		}
		content, err := os.ReadFile(files[0])
		return err == nil && strings.HasPrefix(string(content), "*:*:*:*:new ")
	}, "db-2 has the new password to receive with")
	observer := first.admits("postgres", "new "+passwords["postgres"])
	senders := func(do string) []string {
		rows, err := query(t.Context(), observer, "SELECT "+do+" FROM pg_stat_replication WHERE application_name = 'db-2'")
		require.NoError(t, err)
		return rows
	}
	old := senders("pid")
	require.Len(t, old, 1)
	senders("pg_terminate_backend(pid)")
	e.eventually(func() bool { now := senders("pid"); return len(now) == 1 && now[0] != old[0] }, "db-2 connects with the new password")
	assert.False(t, e.logged("db-2", "could not connect to the primary server"))
	assert.Equal(t, before, running(), "the processes")
	assert.True(t, e.logged("db-1", "statement: ALTER ROLE app PASSWORD"))
	for _, password := range passwords {
		assert.False(t, e.logged("db-1", password) || e.logged("db-2", password))
	}
}

// What PostgreSQL has is enough, for a member that runs and for one that starts.
func TestAPasswordThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	e.setPassword("app", "")
	invalid := func(r report) bool {
		return r.Running && len(r.InvalidPasswords) == 1 && r.InvalidPasswords[0] == "app"
	}
	first.awaits("reports it", invalid)
	first.stop()
	again := e.start("db-1")
	again.awaits("starts all the same", invalid)
	e.elect("db-1", "")
	again.admits("app", passwords["app"])

	e.setPassword("app", "another")
	again.awaits("has a password", func(r report) bool { return r.InvalidPasswords == nil })
	again.admits("app", "another")
}

// A standby that commits wait for is gone, and the change cannot wait for it.
func TestAPasswordChangesWhileCommitsWait(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	second.kill()
	commit := first.inserts("2")
	first.waits(commit)
	e.setPassword("app", "new")
	first.admits("app", "new")
	assert.Empty(t, commit)
	assert.False(t, e.logged("db-1", "canceling wait for synchronous replication"), "it did not wait either")
	e.start("db-2")
	e.streams("db-2")
	assert.NoError(t, <-commit)
}

// What a primary finds may be from a backup, or somebody has changed it.
func TestANewPrimaryHasTheRolesOfTheSecrets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	e.eventually(func() bool { return e.logged("db-1", "the roles are those of the Secrets") }, "db-1 has compared the roles")
	for _, command := range []string{"DROP DATABASE app", "ALTER ROLE app PASSWORD 'other'", "DROP OWNED BY replication", "DROP ROLE replication"} {
		first.sql(command)
	}
	e.elect("db-1", "")
	first.admits("app", passwords["app"])
	first.admits("replication", passwords["replication"])
	first.sql(notForAll)
	first.admits("replication", passwords["replication"])
	e.eventually(func() bool { return first.sql("SELECT count(*) FROM pg_database WHERE datname = 'app'")[0] == "1" }, "db-1 has a database app")
}

func TestWhatRolesMayDo(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	config := first.configure("app", passwords["app"])
	config.Database = "app"
	app, err := pgconn.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer app.Close(t.Context())
	_, err = query(t.Context(), app, "CREATE TABLE rows (n int)")
	require.NoError(t, err)
	roles := first.sql("SELECT rolname || ' ' || rolsuper || ' ' || rolreplication FROM pg_authid WHERE rolcanlogin ORDER BY 1")
	assert.Equal(t, []string{"app false false", "postgres true true", "replication false true"}, roles)
	verifiers := first.sql("SELECT rolname FROM pg_authid WHERE rolpassword LIKE 'SCRAM-SHA-256$%' ORDER BY 1")
	assert.Equal(t, []string{"app", "postgres", "replication"}, verifiers)
}

func TestConnectionsAreEncrypted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	assert.Equal(t, []string{"TLSv1.3"}, first.sql("SELECT DISTINCT version FROM pg_stat_ssl JOIN pg_stat_replication USING (pid) WHERE application_name = 'db-2'"))

	assert.Contains(t, second.sql("SHOW primary_conninfo")[0], "host=db-1 hostaddr=127.")
	assert.Contains(t, second.sql("SHOW primary_conninfo")[0], "sslmode=verify-full")

	plain := first.configure("postgres", passwords["postgres"])
	plain.TLSConfig = nil
	first.refuses(plain, noRule)
	for name, change := range map[string]func(*tls.Config){
		"a client that trusts another CA":  func(c *tls.Config) { c.RootCAs = x509.NewCertPool() },
		"a client that wants another name": func(c *tls.Config) { c.ServerName = "elsewhere" },
		"a client that knows only TLS 1.2": func(c *tls.Config) { c.MinVersion, c.MaxVersion = 0, tls.VersionTLS12 },
	} {
		config := first.configure("postgres", passwords["postgres"])
		change(config.TLSConfig)
		_, err := pgconn.ConnectConfig(t.Context(), config)
		assert.ErrorContains(t, err, "tls", name)
	}
}

func TestTheCertificateChangesWithoutARestart(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	running := func() []int { return []int{first.postgreSQL(), second.postgreSQL()} }
	before := running()
	conn := first.connect()
	serves := func(a *agent) int64 {
		conn := a.connect()
		defer conn.Close(t.Context())
		return conn.Conn().(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	require.EqualValues(t, 1, serves(first))

	e.issue(2, time.Now().Add(-2*time.Hour)) // and it has been announced for long enough
	for _, member := range []*agent{first, second} {
		member.eventually(func() bool { return serves(member) == 2 }, "%s serves the second", member.name)
	}
	e.writeFile("secrets/tls/2.key", "garbage") // and PostgreSQL keeps what it has
	e.eventually(func() bool { return e.logged("db-1", "could not be refreshed") }, "the agent reports it")
	assert.EqualValues(t, 2, serves(first))
	assert.Equal(t, 1, strings.Count(e.log("db-1"), "PostgreSQL has another certificate"))
	_, err := query(t.Context(), conn, "SELECT 1")
	require.NoError(t, err, "an old connection")
	assert.Equal(t, before, running(), "the processes")
}

// stopComparing keeps the agents from comparing the roles with the Secrets: one of the passwords
// cannot be read any more. Neither a backup nor a standby needs this one.
func (e *env) stopComparing() {
	e.Helper()
	require.NoError(e, os.Remove(filepath.Join(e.folder, "secrets", "app", "password")))
}

// notForAll is how people see to it that only some roles may connect.
const notForAll = "REVOKE CONNECT ON DATABASE postgres FROM PUBLIC"

// The first backup and the first standby connect as replication, and applications as app, as soon
// as there is a primary. However late its agent comes to compare the roles, they are there.
func TestADatabaseIsMadeWithItsRoles(t *testing.T) {
	t.Parallel()
	e := newBackedUp(t)
	first := e.start("db-1")
	e.update(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary = postgres.Seeding, 1, "db-1"
	})
	first.awaits("makes a database", func(r report) bool { return r.Running })
	e.stopComparing()
	e.promote("db-1", "")
	first.sql(notForAll)
	require.Empty(t, e.backUp(first))
	config := first.configure("app", passwords["app"])
	config.Database = "app"
	app, err := pgconn.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	assert.NoError(t, app.Close(t.Context()))
	first.sql(createRows)
	first.archived()
	first.stop()

	restored := newBackedUp(t)
	restored.setPassword("replication", "another")
	again := restored.restore(e, nil)
	again.awaits("has restored", func(r report) bool { return r.Restored != nil && r.Running })
	restored.stopComparing()
	restored.promote("db-1", "")
	require.Empty(t, restored.backUp(again), "with the password of now")
}
