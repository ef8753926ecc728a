package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// This is what kubectl describe shows afterwards.
func TestTheEventsOfAFailover(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	assert.Equal(t, []string{
		"Normal Seeding db-1 makes the database",
		"Normal Seeded db-1 has made the database",
		"Normal Promoted db-1 takes writes in term 1",
		"Normal MemberJoins db-2 joins",
		`Normal StandbyChosen commits wait for "db-2"`,
		"Normal StandbySynced db-2 has every acknowledged commit",
	}, e.recorded())

	e.kill("db-1")
	e.settle()
	assert.Equal(t, []string{
		"Normal Electing db-1: its pod has ended",
		"Normal Promoting db-2 becomes the primary",
		"Normal Promoted db-2 takes writes in term 2",
		"Normal MemberEnded the pod of db-1 has ended and is made anew",
		"Normal StandbySynced db-1 has every acknowledged commit",
	}, e.recorded())
}
