package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// They stay synced: what other roles commit does wait for the standby.
func TestCommitsThatDoNotWaitAreReportedOnce(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.recorded()
	reports := func(why string) { e.change(func() { e.agents["db-1"].report.Asynchronous = why }) }
	redundant := func(reason string) func(*postgres.PostgresCluster) bool {
		return func(c *postgres.PostgresCluster) bool {
			return isWell(c) && meta.FindStatusCondition(c.Status.Conditions, postgres.Redundant).Reason == reason
		}
	}
	const role = "ALTER ROLE app SET synchronous_commit = off. RESET it, and have clients connect again"
	reports(role)
	e.until(redundant(plan.AsynchronousCommits))
	for range 3 {
		e.reconcile()
	}
	assert.Equal(t, []string{"Warning AsynchronousCommits acknowledged commits may be on the disk of db-1 only: " + role}, e.recorded())
	reports("")
	e.until(redundant("TwoDisks"))
	assert.Empty(t, e.recorded())
}
