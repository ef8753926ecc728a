package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
)

// fork is where a member's log left timeline 2, as the history of a later one says.
func (a *agent) fork(history string) string {
	a.Helper()
	content, err := os.ReadFile(a.history(history))
	require.NoError(a, err)
	_, line, found := strings.Cut("\n"+string(content), "\n2\t")
	require.True(a, found, "%s", content)
	at, _, _ := strings.Cut(line, "\t")
	return at
}

func (a *agent) history(name string) string {
	return filepath.Join(a.data, "database", "pg_wal", name)
}

// The two members were promoted from one position, and neither saw the other. By itself PostgreSQL
// would give both timelines one number and one history, and the logs could not be told apart.
func TestTwoPromotionsFromOnePosition(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	first.stop() // well, so the standby has all of its log
	e.elect("db-2", "")
	second.sql("INSERT INTO rows VALUES (2)") // which the other one must not keep
	second.stop()

	first = e.start("db-1")
	e.elect("db-1", "")
	require.Equal(t, second.fork("00000003.history"), first.fork("00000004.history"), "the position")
	first.sql("INSERT INTO rows VALUES (3)")
	second = e.start("db-2")
	e.streams("db-2")
	assert.True(t, e.logged("db-2", "the database is of no use any more"))
	second.hasRows("1 3")
	assert.Equal(t, []string{"1", "3"}, first.rows())
}

// After elections that came to nothing, a timeline has a number that is not the next one.
func TestTimelinesAreLeftOut(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	e.electIn(5, "db-2", "db-1")
	e.streams("db-1")
	second.sql("INSERT INTO rows VALUES (2)")
	first.hasRows("1 2")
	clone := e.join("db-3")
	clone.hasRows("1 2")
	first.stop()
	first = e.start("db-1")
	e.streams("db-1")

	e.electIn(9, "db-3", "db-1")
	e.streams("db-1")
	clone.sql("INSERT INTO rows VALUES (3)")
	first.hasRows("1 2 3")
	assert.False(t, e.logged("db-1", "the database is of no use any more"), "it goes on where it was")
}

// A standby that was away fetches the histories of all numbers after its own timeline's, and does not go
// on without one. So a primary that was cloned meanwhile has those that PostgreSQL wrote elsewhere, and
// placeholders.
func TestACloneHasEarlierTimelines(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	first.stop()
	e.electIn(5, "db-2", "")
	second.stop()
	second = e.start("db-2")
	e.electIn(9, "db-2", "")
	e.join("db-3")
	second.stop()
	third := e.elect("db-3", "")
	first = e.start("db-1")
	e.streams("db-1")
	assert.False(t, e.logged("db-1", "the database is of no use any more"), "it goes on where it was")
	histories, err := filepath.Glob(second.history("*.history"))
	require.NoError(t, err)
	require.Len(t, histories, 9, "2 to 10")
	for _, path := range histories {
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, a := range []*agent{first, third} {
			got, err := os.ReadFile(a.history(filepath.Base(path)))
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got), "%s of %s", filepath.Base(path), a.name)
		}
	}
}

// What was left out for a promotion that was cut off is left out no more: PostgreSQL would not start.
func TestAPromotionIsCutOff(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	_, second := e.seedTwo()
	second.stop()
	placeholder := second.history("00000003.history")
	require.NoError(t, os.WriteFile(placeholder, []byte(archive.Placeholder), 0o600))
	e.own(placeholder)
	e.start("db-2")
	e.streams("db-2")
	assert.NoFileExists(t, placeholder)
	e.electIn(4, "db-2", "db-1")
	e.streams("db-1")
	assert.FileExists(t, placeholder)
}
