package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/testcluster"
)

func TestFirstMember(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	assert.Equal(t, string(first.uid), e.holder(), "the holder of the Lease")
	first.sql(createRows)
	address := first.awaits("takes writes", func(r report) bool { return r.Writable }).Address
	assert.True(t, listens(address))
	assert.Equal(t, 0, first.stop(), "its exit code")
	assert.False(t, first.leftLease, "others need not wait for the Lease")
	assert.False(t, listens(address))

	again := e.start("db-1")
	e.elect("db-1", "")
	assert.Equal(t, []string{"1"}, again.rows(), "on the same disk")
}

func TestKilledAgentTakesPostgresWithIt(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	conn := first.connect()
	result := make(chan error, 1)
	go func() {
		_, err := query(context.Background(), conn, "SELECT count(*) FROM generate_series(1, 1000000000000)")
		result <- err
	}()
	first.kill()
	require.Error(t, <-result, "a query that has nothing to do with the agent")
	e.start("db-1")
	e.elect("db-1", "")
}

func TestAgentEndsWithPostgres(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	require.NoError(t, syscall.Kill(first.postgreSQL(), syscall.SIGKILL))
	assert.Equal(t, 1, first.ends(), "its exit code")
	assert.True(t, first.leftLease, "what PostgreSQL has started may not have ended yet; the operator knows when it has")
}

// A pod of the same name is not the primary that was named.
func TestMemberThatComesBackIsNotThePrimary(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	e.seed().kill()
	again := e.start("db-1")
	again.awaits("runs", func(r report) bool { return r.Running })
	e.update(func(s *postgres.PostgresClusterStatus) { s.Term = 3 })
	again.awaits("has seen the status", func(r report) bool { return r.Term == 3 && r.Running && !r.Writable })
	assert.Empty(t, e.holder())
}

func TestAPIServerIsAway(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	proxy, config := testcluster.StartProxy(t, e.config)
	first := e.startWith("db-1", e.kubeconfig("proxied", config))
	e.update(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary = postgres.Seeding, 1, "db-1"
	})
	first.awaits("makes a database", func(r report) bool { return r.Running })
	e.promote("db-1", "")
	first.sql(createRows)
	proxy.Refuse()
	first.awaits("takes no writes", func(r report) bool { return !r.Writable })
	proxy.Allow()
	first.awaits("runs again", func(r report) bool { return r.Running })
	e.beginElection()
	e.freeLease()
	e.promote("db-1", "")
	first.sql("INSERT INTO rows VALUES (2)")
	assert.Equal(t, 1, strings.Count(e.log("db-1"), `step="Promote" term=1`), "promotions in the first term")
}

func TestDatabaseOfAnotherVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	data := filepath.Join(e.folder, "db-1", "database")
	require.NoError(t, os.MkdirAll(data, 0o700))
	version := e.writeFile("db-1/database/PG_VERSION", "9\n")
	e.own(filepath.Dir(version))
	e.own(filepath.Dir(filepath.Dir(version)))
	assert.Equal(t, 1, e.start("db-1").ends())
	assert.True(t, e.logged("db-1", "the disk has a database of PostgreSQL 9"))
}
