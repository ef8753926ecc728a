package member

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// These are the times of a recovery: how long PostgreSQL may take to apply the log of an archive,
// and how often it is asked.
const (
	recoveryTimeout  = 24 * time.Hour
	recoveryInterval = 300 * time.Millisecond
)

// restore makes a database of a base backup, and of the log in the archive until a time, or all
// of it. It gets its name when it is complete, and then it is like any other: it was promoted
// once, to this timeline or a later one, and stopped well. Until then a restore that is interrupted
// begins again.
func (s *server) restore(ctx context.Context, from archive.Folder, program string, until time.Time, timeline int32) (plan.Restored, error) {
	base, err := from.Choose(until)
	if err != nil {
		return plan.Restored{}, err
	}
	if err := s.files.clean(); err != nil {
		return plan.Restored{}, err
	}
	klog.FromContext(ctx).Info("restoring", "base", base.ID, "bytes", base.Bytes, "until", until)
	r, err := s.recover(ctx, s.files.restoring(), from, base.ID, program, until)
	if err != nil {
		return plan.Restored{}, err
	}
	defer r.close()
	// PostgreSQL takes log that is not there any more for the end of it.
	if err := from.CheckKept(base.ID); err != nil {
		return plan.Restored{}, err
	}
	restored, err := r.promote(ctx, timeline)
	if err != nil {
		return plan.Restored{}, err
	}
	restored.Base = base.ID
	return restored, s.files.adopt()
}

// recovery is a PostgreSQL that has applied the log of an archive, and that nobody but the agent
// can connect to.
type recovery struct {
	server  *server
	session session
}

// recover unpacks a base backup, and starts PostgreSQL on it. It returns when the log is applied
// that the archive has now.
func (s *server) recover(ctx context.Context, files layout, from archive.Folder, base, program string, until time.Time) (r *recovery, err error) {
	last, err := from.Last()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(string(files), 0o700); err != nil {
		return nil, err
	}
	sockets, err := os.MkdirTemp("", "pg-")
	if err != nil {
		return nil, err
	}
	r = &recovery{server: &server{programs: s.programs, files: files, settings: settings{
		version: s.settings.version, address: ":5432", member: s.settings.member, secrets: s.settings.secrets, sockets: sockets,
		fetch: fetchCommand(program, string(from), last), bounded: true, until: until,
		// The new timeline goes to the archive, as far as it is written here.
		archive: s.settings.archive, mode: "on",
		capacity: s.settings.capacity,
	}}}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if err := r.unpack(from.Tar(base), plan.Major(s.settings.version)); err != nil {
		return r, fmt.Errorf("unpacking a base backup: %w", err)
	}
	return r, r.apply(ctx)
}

// apply starts PostgreSQL, and returns when it has applied all of the log, or has come to the time
// that is wanted. It pauses there, and also where the primary had more connections, say, than it
// has itself: then it starts again with as many, and goes on.
func (r *recovery) apply(ctx context.Context) error {
	for before := []string(nil); ; r.stop() {
		if err := r.server.start(); err != nil {
			return err
		}
		if err := r.await(ctx, replayed+" OR "+paused); err != nil {
			return err
		}
		isPaused, err := r.ask(ctx, paused)
		if err != nil {
			return err
		}
		if !isPaused {
			if r.server.settings.until.IsZero() {
				return nil
			}
			// The log ends before the time that is wanted, and PostgreSQL would refuse to end the
			// recovery. All of it is wanted then.
			r.server.settings.until = time.Time{}
			continue
		}
		lacking, err := r.server.lacking(r.session.show(ctx))
		switch {
		case len(lacking) == 0 || err != nil:
			return err
		case slices.Equal(lacking, before):
			return fmt.Errorf("PostgreSQL cannot apply the log of the archive without %s; the machine may be too small for that", strings.Join(lacking, ", "))
		}
		klog.FromContext(ctx).Info("the recovery starts again with what it needs", "lacking", lacking)
		before = lacking
	}
}

func (r *recovery) unpack(tar, version string) error {
	file, err := os.Open(tar)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unpack(file, r.server.files.partial()); err != nil {
		return err
	}
	if err := r.server.files.keep(); err != nil {
		return err
	}
	return r.server.files.check(version)
}

// await waits until it is so. If PostgreSQL hasn't answered until the end, the error says why.
func (r *recovery) await(ctx context.Context, condition string) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, recoveryInterval, recoveryTimeout, true, func(ctx context.Context) (bool, error) {
		ready, err := r.ask(ctx, condition)
		if !r.server.running() {
			return false, errors.New("PostgreSQL could not apply the log of the archive; its own log says why")
		}
		if ctx.Err() == nil {
			last = err
		}
		return err == nil && ready, nil
	})
	if wait.Interrupted(err) && last != nil {
		err = fmt.Errorf("%w; PostgreSQL's last answer: %w", err, last)
	}
	return err
}

// ask asks PostgreSQL, which may not accept connections yet.
func (r *recovery) ask(ctx context.Context, condition string) (bool, error) {
	if err := r.session.open(ctx, r.server.local("")); err != nil {
		return false, err
	}
	row, err := r.session.row(ctx, "SELECT "+condition)
	return err == nil && row[0] == "t", err
}

// promote ends the recovery: a new timeline begins, which no archive has yet, nor any disk of this
// cluster, even if that was lost before its timeline was archived. The passwords in a backup are those of
// then, and may be another cluster's.
func (r *recovery) promote(ctx context.Context, timeline int32) (plan.Restored, error) {
	_, own, err := r.session.identify(ctx)
	if err == nil {
		err = r.server.files.leaveOut(own.Timeline+1, timeline)
	}
	if err != nil {
		return plan.Restored{}, err
	}
	row, err := r.session.row(ctx, "SELECT pg_last_wal_replay_lsn(), coalesce((1e6 * extract(epoch FROM pg_last_xact_replay_timestamp()))::bigint, 0)")
	if err != nil {
		return plan.Restored{}, err
	}
	var restored plan.Restored
	if restored.At, err = parseLSN(row[0]); err != nil {
		return plan.Restored{}, err
	}
	if commit, err := strconv.ParseInt(row[1], 10, 64); err != nil {
		return plan.Restored{}, err
	} else if commit != 0 {
		restored.Commit = time.UnixMicro(commit).UTC()
	}
	if err := r.session.promote(ctx, checkpointTimeout); err != nil {
		return plan.Restored{}, err
	}
	passwords, err := r.server.settings.secrets.passwords()
	if err == nil {
		err = r.session.setRoles(ctx, passwords)
	}
	if err != nil {
		return plan.Restored{}, err
	}
	if _, err := r.session.within(ctx, checkpointTimeout, "CHECKPOINT"); err != nil {
		return plan.Restored{}, err
	}
	r.close()
	return restored, nil
}

func (r *recovery) stop() {
	r.session.close()
	r.server.stopFast(fastFor)
}

// close ends PostgreSQL.
func (r *recovery) close() {
	r.stop()
	_ = os.RemoveAll(r.server.settings.sockets) // an empty folder in /tmp
}
