package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// stopComparing keeps the agents from comparing the roles with the Secrets: one of the passwords
// cannot be read any more. Neither a backup nor a standby needs this one.
func (e *env) stopComparing() {
	e.Helper()
	require.NoError(e, os.Remove(filepath.Join(e.folder, "secrets", "app", "password")))
}

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
