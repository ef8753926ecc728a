package e2e

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func isFrozen(r report) bool { return r.Unreachable.Lasts() && r.Unreachable.Cause == "Frozen" }

// The first process of PostgreSQL is frozen, and its others go on, with the session of the agent among
// them. Without a signal that it hears it must stop all the same, or nobody could take over.
func TestAFrozenPostmaster(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	conn := first.connect()
	require.NoError(t, syscall.Kill(first.postgreSQL(), syscall.SIGSTOP))
	r := first.awaits("reports it", isFrozen)
	assert.True(t, r.Writable && r.Running, "it is the operator's to decide")
	_, err := query(t.Context(), conn, "INSERT INTO rows VALUES (2)")
	require.NoError(t, err, "old sessions go on")

	e.elect("db-2", "db-1")
	_, err = query(t.Context(), conn, "INSERT INTO rows VALUES (3)")
	require.Error(t, err, "with the Lease, it has given up its sessions")
	assert.Equal(t, []string{"1", "2"}, second.rows())
	e.streams("db-1") // in the same pod
	second.sql("INSERT INTO rows VALUES (4)")

	frozen := first.postgreSQL()
	require.NoError(t, syscall.Kill(frozen, syscall.SIGSTOP))
	e.eventually(func() bool {
		pid := first.findPostgreSQL()
		return pid != 0 && pid != frozen
	}, "a standby starts it anew by itself")
	e.streams("db-1")
	first.hasRows("1 2 4")
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
