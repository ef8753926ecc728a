package member

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testport"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/testcluster"
)

// What ALTER SYSTEM has written comes last, and the database may need more than that.
func TestADatabaseStartsWithWhatItNeeds(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	s := newDatabase(t, writeSecrets(t))
	const altered = "max_connections = '40'\nwork_mem = '7MB'\nsynchronous_commit = 'off'\nrecovery_target_name = 'nowhere'\n"
	require.NoError(t, os.WriteFile(filepath.Join(s.files.database(), "postgresql.auto.conf"), []byte(altered), 0o600))
	require.NoError(t, os.Chmod(s.files.database(), os.ModeSetgid|0o770)) // what fsGroup makes of it
	begin(t, s)
	for setting, want := range map[string]string{"max_connections": "100", "work_mem": "7MB", "synchronous_commit": "on", "fsync": "on", "recovery_target_name": ""} {
		awaitAnswer(t, s, "SHOW "+setting, want)
	}
}

// writeSecrets writes what a kubelet makes of the Secrets of a cluster.
func writeSecrets(t *testing.T) secrets {
	t.Helper()
	folder := t.TempDir()
	bundle := certificate.Read(nil, "uid")
	issued, err := bundle.Issue([]string{"db-1", "db-2"}, time.Now())
	require.NoError(t, err)
	contents := map[string]string{"ca.crt": string(issued.CA), "tls/1.crt": string(issued.Certificate), "tls/1.key": string(issued.Key)}
	for _, role := range roles {
		contents[role.name+"/password"] = "the password of " + role.name
	}
	for name, content := range contents {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return secrets(folder)
}

// newServer is a member without a database.
func newServer(t *testing.T, programs string, files secrets, name string) *server {
	t.Helper()
	sockets, err := os.MkdirTemp("", "pg-") //nolint:usetesting // the path of a socket has to be short
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(sockets)) })
	return &server{programs: programs, files: layout(t.TempDir()), settings: settings{
		uid: types.UID("pod of " + name), member: name, address: testport.Hold(t, "127.0.0.1"), sockets: sockets, secrets: files,
	}}
}

// newDatabase is a member with a database, which does not run yet.
func newDatabase(t *testing.T, files secrets) *server {
	t.Helper()
	s := newServer(t, testpostgres.Find(t).Bin, files, "db-1")
	require.NoError(t, s.initDB(t.Context()))
	return s
}

// begin starts a PostgreSQL, which ends with the test.
func begin(t *testing.T, s *server) {
	t.Helper()
	require.NoError(t, s.start())
	t.Cleanup(s.stopImmediate)
}

// awaitAnswer asks until the last row of the answer is the one that is wanted.
func awaitAnswer(t *testing.T, s *server, command, want string) {
	t.Helper()
	var rows [][]string
	var err error
	ask := func() bool {
		var connection session
		if connection, err = connect(t.Context(), s.local("")); err != nil {
			return false
		}
		defer connection.close()
		rows, err = connection.within(t.Context(), testcluster.TestTimeout, command)
		return err == nil && len(rows) > 0 && rows[len(rows)-1][0] == want
	}
	require.Eventually(t, ask, testcluster.TestTimeout, 10*time.Millisecond, "%s: %s is not %q", s.settings.member, command, want)
}

// lone is a PostgreSQL that takes writes, and its agent.
func lone(t *testing.T, files secrets) *agent {
	t.Helper()
	s := newDatabase(t, files)
	begin(t, s)
	s.settings.names = "" // commits wait for nobody
	require.NoError(t, s.reload())
	awaitAnswer(t, s, "SELECT current_setting('synchronous_standby_names')", "")
	awaitAnswer(t, s, "SELECT pg_promote()", "t")
	return &agent{options: options{Name: "db-1"}, server: s}
}

// newClient connects to a server as the superuser does who has no session yet.
func newClient(t *testing.T, s *server) session {
	t.Helper()
	to := s.local("")
	to.client = true
	return open(t, to)
}

// open connects, until the test ends.
func open(t *testing.T, to target) session {
	t.Helper()
	s, err := connect(t.Context(), to)
	require.NoError(t, err)
	t.Cleanup(s.close)
	return s
}

func run(t *testing.T, s session, commands ...string) {
	t.Helper()
	for _, command := range commands {
		_, err := s.within(t.Context(), testcluster.TestTimeout, command)
		require.NoError(t, err, command)
	}
}

// receiveFrom has a standby follow.
func receiveFrom(t *testing.T, standby *server, source peer) {
	t.Helper()
	if !standby.running() {
		begin(t, standby)
	}
	standby.settings.primary = source
	require.NoError(t, standby.reload())
	awaitAnswer(t, standby, "SELECT "+receiving, "t")
}
