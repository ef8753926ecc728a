package member

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

func TestABaseBackupThatCannotBeUnpacked(t *testing.T) {
	from := archive.Folder(t.TempDir())
	tar, err := from.Begin("base")
	require.NoError(t, err)
	_, err = tar.WriteString("tar")
	require.NoError(t, err)
	require.NoError(t, tar.Close())
	_, err = new(server).recover(t.Context(), layout(t.TempDir()), from, "base", "agent", time.Time{})
	require.ErrorContains(t, err, "unpacking a base backup")
}

// openAtACheckpoint is a PostgreSQL that was ended while it took writes. Its log begins within a transaction that has more
// than 64 subtransactions: a standby lets nobody read until the log says that it has ended, and there is no more log.
func openAtACheckpoint(t *testing.T) *agent {
	t.Helper()
	a := lone(t, writeSecrets(t))
	run(t, newClient(t, a.server), "CREATE TABLE rows (n int)", "INSERT INTO rows VALUES (1)",
		"BEGIN"+strings.Repeat("; SAVEPOINT s; INSERT INTO rows VALUES (2)", 65)+"; CHECKPOINT")
	a.server.stopImmediate()
	return a
}

// awaitWhy has the agent start its PostgreSQL, until it says why that doesn't answer.
func awaitWhy(t *testing.T, a *agent, status postgres.PostgresClusterStatus) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, _ = a.observe(t.Context(), status)
		err := a.do(t.Context(), plan.Start, status)
		return err != nil && strings.Contains(err.Error(), notYetAccepting)
	}, testcluster.TestTimeout, 100*time.Millisecond, "the status says why")
}

const notYetAccepting = "the database system is not yet accepting connections"

func TestWhyPostgreSQLDoesNotAnswer(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	a := openAtACheckpoint(t)
	awaitWhy(t, a, postgres.PostgresClusterStatus{})
	r := recovery{server: a.server}
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // luck: a try of many
		defer cancel()
		return strings.Contains(r.await(ctx, "true").Error(), notYetAccepting)
	}, testcluster.TestTimeout, 100*time.Millisecond, "so does a recovery that ends")
}

// It doesn't wait for itself: a member that has every acknowledged commit alone, or that wrote the log with which nobody leads,
// ends the transaction.
func TestALastPrimaryRecoversAlone(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	others := postgres.PostgresClusterStatus{Synced: []string{"db-1", "db-2"}, Phase: postgres.Electing}
	unsafe := others
	unsafe.Phase = postgres.Unsafe
	only, another := others, unsafe
	only.Synced, another.Synced = []string{"db-1"}, []string{"db-2"}
	for name, recovers := range map[string]func(t *testing.T, a *agent) postgres.PostgresClusterStatus{
		"the only member": func(*testing.T, *agent) postgres.PostgresClusterStatus { return only },
		"one of two, of which none can lead": func(t *testing.T, a *agent) postgres.PostgresClusterStatus {
			awaitWhy(t, a, others)
			awaitWhy(t, a, unsafe)
			a.started = a.started.Add(-2 * aloneAfter)
			awaitWhy(t, a, others)
			awaitWhy(t, a, another)
			return unsafe
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := openAtACheckpoint(t)
			status := recovers(t, a)
			require.NoError(t, a.do(t.Context(), plan.Start, status), "alone")
			require.False(t, a.server.running())
			require.NoError(t, a.do(t.Context(), plan.Start, status), "and then as a standby")
			awaitAnswer(t, a.server, "SELECT pg_is_in_recovery() || ' ' || string_agg(n::text, ',') FROM rows", "true 1")
		})
	}
}

// The member that was copied may have a subscription. Its publisher sends each change once.
func TestARecoveryReceivesNothingForTheMember(t *testing.T) {
	s := &server{files: layout(t.TempDir())}
	const none = "max_logical_replication_workers=0"
	args, err := s.arguments()
	require.NoError(t, err)
	assert.NotContains(t, args, none)
	s.settings.bounded = true
	args, err = s.arguments()
	require.NoError(t, err)
	assert.Contains(t, args, none)
}
