package member

import (
	"context"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// loweredQuestion is about roles and databases that begin their sessions with a synchronous_commit
// that does not wait until a standby has a commit on its disk. No file and no command line can forbid
// that, and a session may do it as well, which nobody else can see.
const loweredQuestion = `SELECT CASE WHEN setrole = 0 AND setdatabase <> 0 THEN 'ALTER DATABASE ' || quote_ident(datname)
	ELSE 'ALTER ROLE ' || coalesce(quote_ident(rolname), 'ALL') || coalesce(' IN DATABASE ' || quote_ident(datname), '') END || ' SET ' || replace(setting, '=', ' = ')
	FROM pg_db_role_setting CROSS JOIN unnest(setconfig) setting LEFT JOIN pg_roles r ON r.oid = setrole LEFT JOIN pg_database d ON d.oid = setdatabase
	WHERE setting LIKE 'synchronous\_commit=%' AND lower(split_part(setting, '=', 2)) NOT IN ('on', 'remote_apply', 'true', 'yes', '1') ORDER BY 1 LIMIT 10`

func (s session) lowered(ctx context.Context) (commands []string, err error) {
	rows, err := s.rows(ctx, loweredQuestion)
	for _, row := range rows {
		commands = append(commands, row[0])
	}
	return commands, err
}

// lapse is a time in which commits may have been acknowledged that only this disk has.
type lapse struct {
	why   string    // what somebody has done, and what to do
	alone bool      // whether that is about all commits, and the standby may lack some still
	end   plan.LSN  // where the log was when it was over; zero while it lasts
	seen  time.Time // when it was seen last
}

// showLapse is how long a lapse is reported at least: the operator asks every second.
const showLapse = 5 * time.Second

// noteNames notes that somebody else has changed whom commits wait for. The next step is SetNames
// then, and what was acknowledged meanwhile may be on this disk only.
func (a *agent) noteNames(ctx context.Context, o observation) {
	if !a.server.renamed && (o.names == a.names || a.names == unsettled) {
		return
	}
	klog.FromContext(ctx).Info("somebody has changed synchronous_standby_names; it is put back", "found", o.names, "wanted", a.server.settings.names)
	a.lapse.alone = a.lapse.alone || a.begins != 0 && a.server.settings.names != ""
	a.server.renamed, a.names = false, unsettled
}

// noteLapse puts a lapse into the report, until the standby has all that came before its end.
func (a *agent) noteLapse(r *plan.Report, o observation) {
	switch {
	case !o.writable:
		a.lapse = lapse{}
	case a.lapse.alone && a.names == unsettled:
		a.lapse = lapse{alone: true, seen: time.Now(), why: "somebody had changed synchronous_standby_names; the agent has put that back, and the standby has to receive what came meanwhile"}
	case len(o.lowered) > 0:
		a.lapse.why, a.lapse.end, a.lapse.seen = strings.Join(o.lowered, "; ")+". RESET it, and have clients connect again", 0, time.Now()
	case a.lapse.end == 0:
		a.lapse.end = o.At
	}
	if r.SyncedWith != "" || a.names == "" {
		a.lapse.alone = false // which is proven again after each change of the names
	}
	standby, _ := o.waitsFor(a.names)
	received := a.lapse.end != 0 && !a.lapse.alone && (a.names == "" || standby.flushed >= a.lapse.end)
	if received && time.Since(a.lapse.seen) > showLapse {
		a.lapse = lapse{}
	}
	r.Asynchronous, r.Alone = a.lapse.why, a.lapse.alone
}
