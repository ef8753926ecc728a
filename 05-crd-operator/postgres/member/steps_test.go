package member

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// While the rest of the log is archived, the agent is not one that hangs: its pod would be deleted.
func TestTheLastStopHasTime(t *testing.T) {
	for phase, silentThen := range map[postgres.Phase]bool{postgres.Deleting: false, postgres.Electing: true} {
		synctest.Test(t, func(t *testing.T) {
			a := &agent{server: &server{}}
			require.NoError(t, a.do(t.Context(), plan.StopFast, postgres.PostgresClusterStatus{Phase: phase}))
			time.Sleep(lastFor) //nolint:forbidigo // fake time
			_, silent := a.reporter.get()
			assert.Equal(t, silentThen, silent, phase)
		})
	}
}

func TestACopyOfALargeDatabaseHasTime(t *testing.T) {
	files := layout(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		a := &agent{server: &server{files: files}}
		require.ErrorIs(t, a.do(t.Context(), plan.Clone, postgres.PostgresClusterStatus{}), errUnreachable)
		time.Sleep(10 * time.Hour) //nolint:forbidigo // fake time
		_, silent := a.reporter.get()
		assert.False(t, silent)
	})
}
