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

// The log begins with a transaction that has more than 64 subtransactions. PostgreSQL lets nobody read until the log
// says that it has ended, and there is no more log.
func TestWhyPostgreSQLDoesNotAnswer(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if ranAsNobody(t) {
		return
	}
	a := lone(t, writeSecrets(t))
	run(t, newClient(t, a.server), "CREATE TABLE rows (n int)", "BEGIN"+strings.Repeat("; SAVEPOINT s; INSERT INTO rows VALUES (1)", 65)+"; CHECKPOINT")
	a.server.stopImmediate()
	require.NoError(t, a.server.start())

	const why = "the database system is not yet accepting connections"
	status := postgres.PostgresClusterStatus{}
	require.Eventually(t, func() bool {
		_, _ = a.observe(t.Context(), status)
		return strings.Contains(a.do(t.Context(), plan.Start, status).Error(), why)
	}, testcluster.TestTimeout, 100*time.Millisecond, "the status says why")

	r := recovery{server: a.server}
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // luck: a try of many
		defer cancel()
		return strings.Contains(r.await(ctx, "true").Error(), why)
	}, testcluster.TestTimeout, 100*time.Millisecond, "so does a recovery that ends")
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
