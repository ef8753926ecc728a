package member

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// The files are measured again when the disk could be nearly full, if it is filled as fast as this.
const (
	fastest      = 256 << 20 // bytes in a second
	measureAtAll = 5 * time.Second
	measureMost  = 250 * time.Millisecond
	mostOfTime   = 20          // it is measured for a twentieth of the time at most,
	mostWhenFew  = time.Second // but not less often when the disk could be nearly full in a second
)

// The reserve is a tenth of the disk, but not less than the one and not more than the other. While
// less is left, the disk is nearly full. PostgreSQL stops with a panic if it cannot write its log,
// and it could not start again.
const (
	leastReserve = 64 << 20
	mostReserve  = 2 << 30
)

// space measures how much of the disk is left. It works beside the loop, since there may be many
// files.
type space struct {
	files layout
	last  atomic.Pointer[usage] // nil if it was not measured yet
	left  atomic.Int64          // until the disk is nearly full, in bytes
}

// usage is what is on a disk, in bytes.
type usage struct {
	used int64 // by the files but for the log
	log  int64 // by the log
	free int64 // on the file system
}

// A quarter of the disk is for the log, but not more than this. PostgreSQL is told to keep half of
// that, since it has twice as much while a lot is written, and a standby while a lot is received.
const mostLog = 2 << 30

func logShare(capacity int64) int64 { return min(capacity/4, mostLog) }

// run measures until the context ends.
func (s *space) run(ctx context.Context) {
	for {
		begun := time.Now()
		if now, err := s.files.measure(); err != nil {
			klog.FromContext(ctx).Error(err, "the disk could not be measured; trying again")
		} else {
			s.last.Store(&now)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.pause(time.Since(begun))):
		}
	}
}

// pause is how long nobody needs to measure, if to measure took so long. It takes long if there are
// many files, or if the machine is busy, and then what fills the disk does not wait, either.
func (s *space) pause(took time.Duration) time.Duration {
	const most = fastest * int64(measureAtAll/time.Second)
	left := s.left.Load()
	pause := max(time.Duration(min(left, most))*time.Second/fastest, measureMost)
	longer := mostOfTime * took
	if left < fastest {
		longer = min(longer, mostWhenFew)
	}
	return max(pause, longer)
}

func (l layout) measure() (u usage, err error) {
	var system unix.Statfs_t
	if err := unix.Statfs(string(l), &system); err != nil {
		return u, err
	}
	u.free = int64(system.Bavail) * int64(system.Bsize) // of other types elsewhere
	err = filepath.WalkDir(string(l), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var file fs.FileInfo
			file, err = entry.Info()
			switch {
			case err != nil:
			case filepath.Dir(path) == l.log():
				u.log += file.Size()
			default:
				u.used += file.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) { // PostgreSQL has removed it meanwhile
			return nil
		}
		return err
	})
	return u, err
}

// nearlyFull reports whether less than the reserve is left. Once it was so, twice the reserve has
// to be left, so that writes do not begin and end all the time. The capacity is what the volume was
// promised to have: on some, nothing enforces it, and some file systems give less. It is zero if it
// is not known. The log counts with its share, so a standby that has more of it has room, too.
func (s *space) nearlyFull(capacity int64, was bool) bool {
	now := s.last.Load()
	if now == nil {
		return false
	}
	left, reserve := now.free, reserveOf(capacity)
	if capacity > 0 {
		left = min(left, capacity-now.used-max(now.log, logShare(capacity)))
	}
	if was {
		reserve *= 2
	}
	s.left.Store(left - reserve)
	return left < reserve
}

func reserveOf(capacity int64) int64 {
	if capacity == 0 {
		return leastReserve
	}
	return min(max(leastReserve, capacity/10), mostReserve)
}

// room measures how much a disk without a database has for one and its log, but for the reserve.
func (l layout) room(capacity int64) (int64, error) {
	now, err := l.measure()
	left := now.free
	if capacity > 0 {
		left = min(left, capacity-now.used-now.log)
	}
	return left - reserveOf(capacity), err
}

// keepSpace has PostgreSQL take no writes while the disk of this member is nearly full, or that of
// another one without which there are none. What is there can still be read.
func (a *agent) keepSpace(ctx context.Context, status postgres.PostgresClusterStatus) {
	capacity := capacityOf(status, a.Name)
	a.full = a.space.nearlyFull(capacity, a.full)
	readOnly := a.full || plan.NoSpace(status)
	if !a.server.running() {
		a.server.settings.capacity, a.server.settings.readOnly = capacity, readOnly
		return
	}
	err := a.setReadOnly(ctx, capacity, readOnly)
	if err == nil && readOnly && (a.full || a.begins != 0) && a.session.PgConn != nil {
		err = a.endTransactions(ctx)
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "the disk is nearly full, or was, and PostgreSQL does not know; trying again")
	}
}

// setReadOnly gives PostgreSQL the settings that depend on the disk.
func (a *agent) setReadOnly(ctx context.Context, capacity int64, readOnly bool) error {
	s := &a.server.settings
	if s.capacity == capacity && s.readOnly == readOnly {
		return nil
	}
	before := *s
	s.capacity, s.readOnly = capacity, readOnly
	if err := a.server.reload(); err != nil {
		s.capacity, s.readOnly = before.capacity, before.readOnly // others read the rest
		return err
	}
	if readOnly != before.readOnly {
		a.readOnlySince = time.Now()
		klog.FromContext(ctx).Info("writes stop while a disk is nearly full, or go on", "readOnly", readOnly)
	}
	return nil
}

// endTransactions ends the connections of transactions that were begun before writes stopped: they
// may still write, or sort in a temporary file. Those that were begun later, and may write because
// the client has asked for that, are let be: somebody makes space. So are commits that only wait
// for a standby.
func (a *agent) endTransactions(ctx context.Context) error {
	since := time.Now().Add(-time.Since(a.readOnlySince)) // by the clock as it is now: it may have been set since
	seconds := float64(since.UnixMicro()) / 1e6
	// A process may have read the settings a little later.
	_, err := a.session.rows(ctx, fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND wait_event IS DISTINCT FROM 'SyncRep'
		AND (xact_start < to_timestamp(%f) OR backend_xid IS NOT NULL AND xact_start < to_timestamp(%f))`, seconds, seconds+1))
	return err
}
