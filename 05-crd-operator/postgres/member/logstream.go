package member

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// logStream receives the log of another member, beside a copy of its database, and writes it into that
// as PostgreSQL does. So the copy may take as long as it likes: the primary need not keep the log of
// all that time.
type logStream struct {
	session
	folder   string
	timeline int32
	at       plan.LSN      // all log before it is written
	end      atomic.Uint64 // where the copy needs no more log, once that is known
	room     int64         // how much may still be written, in bytes
	file     *os.File      // of the present segment
}

// receiveLog begins to receive, at the beginning of the present segment.
func (s *server) receiveLog(ctx context.Context, source peer, room int64) (*logStream, error) {
	from, err := connectMember(ctx, source, s.settings.secrets)
	if err != nil {
		return nil, err
	}
	l := &logStream{session: from, folder: filepath.Join(s.files.partial(), "pg_wal"), room: room}
	if err := l.begin(ctx, slotOf(s.settings.member)); err != nil {
		from.close()
		return nil, err
	}
	return l, nil
}

func (l *logStream) begin(ctx context.Context, slot string) error {
	if err := l.reserve(ctx, slot); err != nil {
		return err
	}
	_, now, err := l.identify(ctx)
	if err != nil {
		return err
	}
	l.timeline, l.at = now.Timeline, now.At-now.At%archive.SegmentSize
	if err := os.MkdirAll(l.folder, 0o700); err != nil {
		return err
	}
	if l.timeline > 1 { // the first one has no history
		row, err := l.row(ctx, fmt.Sprintf("TIMELINE_HISTORY %d", l.timeline))
		if err != nil {
			return err
		}
		for n := int32(2); n <= l.timeline; n++ { // a standby that was away needs all of them
			if err := os.WriteFile(filepath.Join(l.folder, historyName(n)), []byte(historyOf(n, l.timeline, row[1])), 0o600); err != nil {
				return err
			}
		}
	}
	// What PostgreSQL answers is read with the log.
	l.Frontend().SendQuery(&pgproto3.Query{String: fmt.Sprintf("START_REPLICATION SLOT %s PHYSICAL %s TIMELINE %d", slot, l.at, l.timeline)})
	return l.Frontend().Flush()
}

// confirmEvery is how often PostgreSQL is told how far it was received. It gives up after 5 s.
const confirmEvery = time.Second

// run receives until the copy needs no more.
func (l *logStream) run(ctx context.Context) error {
	for confirmed := time.Now(); ; {
		if time.Since(confirmed) >= confirmEvery {
			if err := l.confirm(); err != nil {
				return err
			}
			confirmed = time.Now()
		}
		if end := plan.LSN(l.end.Load()); end != 0 && l.at >= end {
			return errors.Join(l.closeFile(), archive.SyncFolder(l.folder))
		}
		message, err := l.next(ctx)
		if err != nil {
			return err
		}
		switch {
		case len(message) > 25 && message[0] == 'w': // log: from where on, and two numbers more
			if err := l.write(plan.LSN(binary.BigEndian.Uint64(message[1:])), message[25:]); err != nil {
				return err
			}
		case len(message) == 18 && message[0] == 'k' && message[17] == 1: // an answer is wanted
			confirmed = time.Time{}
		}
	}
}

// next waits a moment for what PostgreSQL sends.
func (l *logStream) next(ctx context.Context) ([]byte, error) {
	moment, cancel := context.WithTimeout(ctx, interval)
	defer cancel()
	message, err := l.ReceiveMessage(moment)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case pgconn.Timeout(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	switch m := message.(type) {
	case *pgproto3.CopyData:
		return m.Data, nil
	case *pgproto3.ErrorResponse:
		return nil, pgconn.ErrorResponseToPgError(m)
	case *pgproto3.CopyDone:
		return nil, errors.New("the primary sends no more log")
	}
	return nil, nil
}

// write writes log to the files of its segments.
func (l *logStream) write(begin plan.LSN, content []byte) error {
	if begin != l.at {
		return fmt.Errorf("log from %s on was sent, and %s is next", begin, l.at)
	}
	if l.room -= int64(len(content)); l.room < 0 {
		return fmt.Errorf("%w for the log that is written during the copy", errNoRoom)
	}
	for len(content) > 0 {
		if l.file == nil {
			if err := l.openFile(); err != nil {
				return err
			}
		}
		offset := int64(l.at % archive.SegmentSize)
		n := min(int64(len(content)), archive.SegmentSize-offset)
		if _, err := l.file.WriteAt(content[:n], offset); err != nil {
			return err
		}
		l.at, content = l.at+plan.LSN(n), content[n:]
		if l.at%archive.SegmentSize == 0 {
			if err := l.closeFile(); err != nil {
				return err
			}
		}
	}
	return nil
}

// openFile makes the file of the present segment. PostgreSQL expects whole segments, of which the
// rest is zero.
func (l *logStream) openFile() (err error) {
	if l.file, err = os.OpenFile(filepath.Join(l.folder, segmentName(l.timeline, l.at)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	return l.file.Truncate(archive.SegmentSize)
}

func (l *logStream) closeFile() error {
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	return errors.Join(file.Sync(), file.Close())
}

// confirm tells PostgreSQL that it need not keep what was received. Not all of it is on the disk;
// but if this member ends now, the copy begins again.
func (l *logStream) confirm() error {
	message := []byte{'r'}
	for range 3 { // written, on the disk, applied
		message = binary.BigEndian.AppendUint64(message, uint64(l.at))
	}
	message = binary.BigEndian.AppendUint64(message, 0) // the time here
	message = append(message, 0)                        // no answer is wanted
	encoded, err := (&pgproto3.CopyData{Data: message}).Encode(nil)
	if err != nil {
		return err
	}
	return l.Frontend().SendUnbufferedEncodedCopyData(encoded)
}

func (l *logStream) close() {
	_ = l.closeFile() // after an error; the copy begins again
	l.session.close()
}

// lacksLog reports whether PostgreSQL has refused log because it does not keep it any more: the
// file is gone, the slot is lost, or it has ended the connection to remove the file.
func lacksLog(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"58P01", "55000", "57P01"}, refused.Code)
}

// segmentName is the file of the log that has a position.
func segmentName(timeline int32, at plan.LSN) string {
	return fmt.Sprintf("%08X%08X%08X", timeline, uint64(at)>>32, uint64(at)>>24&0xFF)
}
