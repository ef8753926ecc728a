package member

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// The times of the archiver.
const (
	sampleEvery = time.Second
	// untilEvery is how often the archive is told until when it is complete.
	untilEvery = 2 * time.Second
)

const mostSamples = 5000

// archiver observes, while this member is the primary, what of the log is in the archive. It
// works beside the loop, which must not wait for another disk.
type archiver struct {
	folder  archive.Folder
	server  *server
	timeout time.Duration // how long a commit waits at most until its segment is closed
	holds   func() bool   // whether it holds the Lease

	session   session
	samples   []sample
	archived  plan.LSN  // all before it is in the archive
	closed    plan.LSN  // all before it is in segments that are closed
	published time.Time // until when it is complete, as the archive says
	wrote     time.Time // when it was told that

	report atomic.Pointer[plan.Archive] // what was observed last, or nil if this is not the primary
}

// sample is how far the log went at a time. What was acknowledged before that time is not after
// that position.
type sample struct {
	begun time.Time // when that was so first
	time  time.Time // and last
	at    plan.LSN
	// transactions is the state of all transactions. If two samples have the same, and none is
	// under way, then nothing was committed between them.
	transactions string
}

// run observes until the context ends.
func (a *archiver) run(ctx context.Context) {
	defer a.session.close()
	wait.NonSlidingUntilWithContext(ctx, func(ctx context.Context) {
		if a.holds() {
			a.observe(ctx)
			return
		}
		a.samples, a.archived, a.closed, a.published = nil, 0, 0, time.Time{}
		a.report.Store(nil)
	}, sampleEvery)
}

func (a *archiver) observe(ctx context.Context) {
	failure, err := a.sample(ctx)
	if err != nil {
		a.session.close()
		return // PostgreSQL ends, or has not begun; the loop knows
	}
	report := &plan.Archive{Failure: failure}
	var until time.Time
	if a.holds() { // still, so nobody else has acknowledged anything
		until = a.until()
	}
	if err := a.read(report, until); err != nil {
		klog.FromContext(ctx).Error(err, "the disk of the backups cannot be used; trying again")
		report.Failure = err.Error()
	}
	report.Until = a.published
	a.report.Store(report)
}

// read reads what base backups there are, and tells the archive until when it is complete. What
// comes before a gap does not count.
func (a *archiver) read(report *plan.Archive, until time.Time) error {
	bases, gap, err := a.folder.Unbroken()
	switch {
	case err != nil:
		return err
	case len(bases) > 0:
		last := bases[len(bases)-1]
		report.First, report.Last, report.Bytes = bases[0].End, last.End, last.Bytes
	case gap != "":
		return fmt.Errorf("the archive lacks segment %s of the log, so another base backup is made", gap)
	}
	if until.After(a.published) && time.Since(a.wrote) > untilEvery {
		if err := a.folder.SetUntil(until); err != nil {
			return err
		}
		a.published, a.wrote = until, time.Now()
	}
	return nil
}

// What was archived of an earlier timeline says nothing: of a segment in which that ended, nothing may be archived.
const archiveQuestion = `SELECT pg_current_wal_flush_lsn(), pg_current_snapshot(),
	CASE WHEN left(last_archived_wal, 8) = left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) THEN last_archived_wal ELSE '' END,
	CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity') THEN coalesce(last_failed_wal, '') ELSE '' END
	FROM pg_stat_archiver WHERE NOT pg_is_in_recovery()`

// sample asks PostgreSQL how far its log goes, and which file of it was archived last.
func (a *archiver) sample(ctx context.Context) (failure string, err error) {
	if err := a.session.open(ctx, a.server.local("")); err != nil {
		return "", err
	}
	now := time.Now() // not after what is measured
	row, err := a.session.row(ctx, archiveQuestion)
	if err != nil {
		return "", err
	}
	at, err := parseLSN(row[0])
	if err != nil {
		return "", err
	}
	a.add(sample{now, now, at, row[1]})
	a.archived = max(a.archived, archivedWith(row[2]))
	if row[3] != "" {
		failure = row[3] + " could not be archived: " + a.reason()
	}
	return failure, a.closeSegment(ctx, now)
}

// reason is why a file was not archived, as far as the program that was to do it could tell.
func (a *archiver) reason() string {
	if content, err := os.ReadFile(a.server.files.archiveFailure()); err == nil && len(content) > 0 {
		return string(content)
	}
	return "the log of the primary says why"
}

// closeSegment has PostgreSQL begin a new segment if something has waited for that too long. Its
// own archive_timeout does the same, but not if all that waits is of no importance, and then
// nobody could know that there was nothing else.
func (a *archiver) closeSegment(ctx context.Context, now time.Time) error {
	late := func(s sample) bool { return s.at > max(a.archived, a.closed) && now.Sub(s.begun) >= a.timeout }
	if !slices.ContainsFunc(a.samples, late) {
		return nil
	}
	row, err := a.session.row(ctx, "SELECT pg_switch_wal()")
	if err != nil {
		return err
	}
	a.closed, err = parseLSN(row[0])
	return err
}

// add adds a sample. One that shows no change since the last one only makes that later.
func (a *archiver) add(s sample) {
	if n := len(a.samples); n > 0 && quiet(s.transactions) && s.transactions == a.samples[n-1].transactions {
		a.samples[n-1].time = s.time
		return
	}
	a.samples = append(a.samples, s)
	if len(a.samples) > mostSamples { // for an hour and more, nothing was archived
		a.samples = slices.Delete(a.samples, 1, 2)
	}
}

// quiet reports whether no transaction is under way: the oldest that may be is the next one.
func quiet(snapshot string) bool {
	oldest, rest, _ := strings.Cut(snapshot, ":")
	next, _, _ := strings.Cut(rest, ":")
	return oldest != "" && oldest == next
}

// until is the time of the newest sample that is in the archive, or the zero time. Older ones
// are not needed any more.
func (a *archiver) until() time.Time {
	for len(a.samples) > 1 && a.samples[1].at <= a.archived {
		a.samples = a.samples[1:]
	}
	if len(a.samples) == 0 || a.samples[0].at > a.archived {
		return time.Time{}
	}
	return a.samples[0].time
}

// archivedWith is up to where the log is archived when a file is. The note about a base backup
// comes after the segment in which that began.
func archivedWith(name string) plan.LSN {
	if segment, isNote := strings.CutSuffix(name, ".backup"); isNote {
		name, _, _ = strings.Cut(segment, ".")
	}
	return plan.LSN(archive.SegmentEnd(name))
}
