package operator

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// reports has an agent report that nobody has been able to connect for a minute.
func (e *env) reports(name string, cause plan.Cause) {
	e.change(func() { e.agents[name].report.Unreachable = &plan.Unreachable{Cause: cause, For: time.Minute} })
}

func reasonOf(c *postgres.PostgresCluster, condition string) string {
	return meta.FindStatusCondition(c.Status.Conditions, condition).Reason
}

func TestAFrozenPrimaryIsReplaced(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	pod := e.pod("db-1").UID
	e.reports("db-1", plan.Frozen)
	statuses := e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && c.Status.Term == 2 })
	assert.Equal(t, `Electing, term 2, primary "", standby "db-2", synced [db-1 db-2]`, statuses[0])
	assert.Equal(t, pod, e.pod("db-1").UID, "its agent has started PostgreSQL again")
	assert.Contains(t, e.recorded(), "Normal Electing db-1: it accepts no connections any more")
}

func TestPeopleLearnWhatAgentsReport(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.recorded()
	e.reports("db-1", plan.TooManyClients)
	e.change(func() { e.agents["db-2"].report.InvalidPasswords = []string{"app"} })
	e.until(func(c *postgres.PostgresCluster) bool {
		return reasonOf(c, postgres.Available) == "TooManyClients" && reasonOf(c, postgres.Accepted) == "InvalidPassword"
	})
	for range 3 {
		e.reconcile()
	}
	events := e.recorded()
	assert.Len(t, events, 2, "%q", events)
	recorded := strings.Join(events, "\n")
	assert.Contains(t, recorded, "Warning InvalidPassword a password is empty")
	assert.Contains(t, recorded, "Warning Unreachable all connections of db-1 ")
	assert.Equal(t, postgres.Running, e.cluster().Status.Phase)
	assert.Zero(t, e.observe().Leaderless, "there is a primary")

	e.change(func() { e.agents["db-1"].report.Unreachable, e.agents["db-2"].report.InvalidPasswords = nil, nil })
	e.until(func(c *postgres.PostgresCluster) bool {
		return reasonOf(c, postgres.Available) == "Serving" && reasonOf(c, postgres.Accepted) == "Valid" && isWell(c)
	})
}
