package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// row is a row that a primary has acknowledged.
type row struct {
	n        int
	server   string    // the cluster_name of its PostgreSQL, which is the UID of a pod
	timeline string    // that it was on
	at       time.Time // when the writer knew
}

// writer inserts one row after the other, through the port of the primary's Service. It never
// gives up: after an error it connects again, and goes on with the next row.
type writer struct {
	*env
	dialer  dialer
	address string
	cancel  context.CancelFunc
	done    chan struct{} // closed when it has stopped

	mu           sync.Mutex
	acknowledged []row
}

// The timeline in functions that read the last checkpoint is that before the promotion. This one
// is right.
const (
	createRows = `CREATE TABLE rows (n int PRIMARY KEY, server text NOT NULL, timeline text NOT NULL)`
	insertRow  = `INSERT INTO rows VALUES (%d, current_setting('cluster_name'), left(pg_walfile_name(pg_current_wal_lsn()), 8)) RETURNING server, timeline`
)

// startWriter starts the writer of a cluster that has a primary.
func (e *env) startWriter() *writer {
	e.Helper()
	w := &writer{env: e, dialer: e.newDialer(), address: e.primaryAddress(), done: make(chan struct{})}
	eventually(e, "there is a table", func() error {
		_, err := w.ask(e.Context(), createRows)
		return err
	})
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.run(ctx)
	e.Cleanup(w.stop)
	w.goesOn()
	return w
}

func (w *writer) stop() {
	w.cancel()
	<-w.done
}

// run inserts rows until the context ends. A commit may have to wait for long, and that is no
// error.
func (w *writer) run(ctx context.Context) {
	defer close(w.done)
	var s *session
	defer func() {
		if s != nil {
			s.close()
		}
	}()
	for n := 1; ctx.Err() == nil; n++ {
		if s == nil {
			s, _ = w.dialer.dial(ctx, w.address) // there may be no primary
		}
		if s != nil && w.insert(ctx, s, n) != nil {
			s.close()
			s = nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond): // so that the machine does other things, too
		}
	}
}

func (w *writer) insert(ctx context.Context, s *session, n int) error {
	rows, err := s.query(ctx, fmt.Sprintf(insertRow, n))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acknowledged = append(w.acknowledged, row{n, rows[0][0], rows[0][1], time.Now()})
	return nil
}

// rows are those that were acknowledged so far.
func (w *writer) rows() []row {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.acknowledged)
}

// goesOn waits until more is acknowledged.
func (w *writer) goesOn() {
	w.Helper()
	before := len(w.rows())
	eventually(w, "a row is acknowledged", func() error {
		if len(w.rows()) == before {
			return errors.New("none was")
		}
		return nil
	})
}

// ask asks the primary.
func (w *writer) ask(ctx context.Context, command string) ([][]string, error) {
	s, err := w.dialer.dial(ctx, w.address)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.query(ctx, command)
}

// gap is the time from the last row on a timeline to the first on the next, at the last failover.
func (w *writer) gap() time.Duration {
	w.Helper()
	rows := w.rows()
	for i := len(rows) - 1; i > 0; i-- {
		if rows[i].timeline != rows[i-1].timeline {
			return rows[i].at.Sub(rows[i-1].at)
		}
	}
	require.FailNow(w, "all rows are on one timeline")
	return 0
}
