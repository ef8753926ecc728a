package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
)

// TestADiskIsNearlyFull fills the disks of a cluster, which takes no writes then, and takes them
// again when it has larger disks.
func TestADiskIsNearlyFull(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	e.create(name, postgres.PostgresClusterSpec{Size: 2, Storage: resource.MustParse("224Mi")})
	e.settles()
	disks, writer := e.disks(), e.startWriter()
	s, err := writer.dialer.dial(t.Context(), writer.address)
	require.NoError(t, err)
	defer s.close()
	_, err = s.query(t.Context(), "CREATE TABLE ballast (n int) WITH (autovacuum_enabled = false)") // which stays
	require.NoError(t, err)
	_, err = s.query(t.Context(), "INSERT INTO ballast SELECT generate_series(1, 1000000000)")
	require.Error(t, err, "the transaction was ended")

	e.kubectl("wait", "postgrescluster", name, "--for=condition=HasSpace=False", timeout)
	problem := meta.FindStatusCondition(e.status().Conditions, postgres.HasSpace)
	assert.Equal(t, "DiskFull", problem.Reason)
	assert.Regexp(t, `^nearly full: the disk of db-\d(, that of db-\d)?; no writes are taken\. Raise spec\.storage, which is 224Mi, or`, problem.Message)
	_, err = writer.ask(t.Context(), "CREATE TABLE another (n int)")
	require.ErrorContains(t, err, "read-only transaction")

	e.patch(`"storage":"1Gi"`)
	e.kubectl("wait", "postgrescluster", name, "--for=condition=HasSpace", timeout)
	writer.goesOn()
	eventually(e, "the status has the new size", func() error {
		for _, m := range e.status().Members {
			if m.Storage.String() != "1Gi" {
				return fmt.Errorf("%s has %s", m.Name, m.Storage.String())
			}
		}
		return nil
	})
	assert.Equal(t, disks, e.disks(), "they grow where they are")
	assert.Empty(t, writer.loses(), "acknowledged rows that are lost")
	writer.membersAgree()
	e.deleteCluster()
}
