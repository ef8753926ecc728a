package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// A person promotes a member that lacks a row, and the disk with that row comes back. It has to be
// kept, and while there is no room for it and for a copy, there is no copy.
func TestWhatWasGivenUpIsKept(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	first.sql(createRows)
	e.join("db-2").stop()
	first.sql("INSERT INTO rows VALUES (2)")
	first.kill()
	e.start("db-2")
	e.beginElection()
	term := e.update(func(s *postgres.PostgresClusterStatus) {
		s.Lost = []postgres.LostData{{Member: "db-1", Term: s.Term}}
	}).Term
	e.promote("db-2", "")

	e.storage = resource.MustParse("1Mi")
	e.publish()
	first = e.start("db-1")
	e.publish()
	first.awaits("has no room", func(r report) bool {
		e.publish()
		return r.Data == plan.Empty && assert.ObjectsAreEqual([]string{plan.KeptFolder(term)}, r.Kept) && r.Trouble != ""
	})
	e.storage = resource.MustParse("1Gi")
	e.publish()
	e.streams("db-1")
	first.hasRows("1")
	assert.FileExists(t, filepath.Join(first.data, plan.KeptFolder(term), "PG_VERSION"))
	assert.False(t, e.logged("db-1", `step="Wipe"`))
}
