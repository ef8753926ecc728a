package member

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// lapses plays a primary whose commits wait for db-2.
type lapses struct {
	*agent
	t *testing.T
	o observation
}

func newLapses(t *testing.T) *lapses {
	t.Helper()
	a := &agent{server: &server{settings: settings{names: "db-2"}}, names: "db-2", begins: 2}
	l := &lapses{a, t, observation{writable: true, names: "db-2", standbys: []standby{{name: "db-2", sync: true, connection: "1"}}}}
	l.moves(0x100, 0x100)
	return l
}

// moves brings the primary and its standby to these positions.
func (l *lapses) moves(primary, standby plan.LSN) { l.o.At, l.o.standbys[0].flushed = primary, standby }

// reports is what the agent reports then.
func (l *lapses) reports() plan.Report {
	l.t.Helper()
	var r plan.Report
	l.noteNames(l.t.Context(), l.o)
	if r.Names = unsettled; l.o.names == l.names {
		r.Names = l.names
		if l.isSynced(l.o) {
			r.SyncedWith = l.names
		}
	}
	l.noteLapse(&r, l.o)
	return r
}

// putBack does what SetNames does.
func (l *lapses) putBack() { l.o.names, l.names, l.since = "db-2", "db-2", since{} }

func TestALapseOfAllCommits(t *testing.T) {
	for name, alter := range map[string]func(*lapses){
		"PostgreSQL has other names":                           func(l *lapses) { l.o.names = "" },
		"the file had them, and PostgreSQL has seen it or not": func(l *lapses) { l.server.renamed = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLapses(t)
				assert.Equal(t, plan.Report{Names: "db-2", SyncedWith: "db-2"}, l.reports())
				alter(l)
				l.moves(0x300, 0x200)
				r := l.reports()
				assert.True(t, r.Alone)
				assert.Contains(t, r.Asynchronous, "synchronous_standby_names")
				assert.Equal(t, unsettled, r.Names, "so that SetNames is the next step, even if somebody has put them back")

				l.putBack()
				assert.True(t, l.reports().Alone, "the standby lacks what came meanwhile")
				l.moves(0x400, 0x300)
				r = l.reports()
				assert.False(t, r.Alone, "it has that")
				assert.Equal(t, "db-2", r.SyncedWith)
				assert.NotEmpty(t, r.Asynchronous, "the operator has not asked yet")
				time.Sleep(showLapse + 1) //nolint:forbidigo // fake time
				assert.Empty(t, l.reports().Asynchronous)
			})
		})
	}
}

func TestALapseOfARole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLapses(t)
		l.o.lowered = []string{"ALTER ROLE app SET synchronous_commit = off"}
		r := l.reports()
		assert.False(t, r.Alone, "the commits of others do wait")
		assert.Equal(t, "db-2", r.SyncedWith)
		assert.Equal(t, "ALTER ROLE app SET synchronous_commit = off. RESET it, and have clients connect again", r.Asynchronous)

		l.o.lowered = nil
		l.moves(0x300, 0x200)
		time.Sleep(2 * showLapse) //nolint:forbidigo // fake time
		assert.NotEmpty(t, l.reports().Asynchronous, "the standby lacks what came before the end")
		l.moves(0x400, 0x300)
		assert.Empty(t, l.reports().Asynchronous)
	})
}

// Without a standby there is none that may lack something.
func TestALapseOfAClusterOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLapses(t)
		l.server.settings.names, l.names, l.o.names, l.o.standbys[0].name = "", "", "db-9", "db-9"
		assert.False(t, l.reports().Alone)
		assert.Equal(t, unsettled, l.names)
		l.o.names, l.names, l.o.lowered = "", "", []string{"ALTER ROLE app SET synchronous_commit = off"}
		assert.NotEmpty(t, l.reports().Asynchronous)
		l.o.lowered = nil
		time.Sleep(2 * showLapse) //nolint:forbidigo // fake time
		l.reports()
		assert.Empty(t, l.reports().Asynchronous)
	})
}
