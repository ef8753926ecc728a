package recorder

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testport"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/testcluster"
)

// TestWhatTheJudgeSees loses the primary of a real PostgreSQL whose standby lags. There is no operator: the
// test is as good, or as bad, as one.
func TestWhatTheJudgeSees(t *testing.T) {
	if testpostgres.RanAsNobody(t) {
		return
	}
	t.Run("commits that wait for a standby are there", func(t *testing.T) {
		assert.Empty(t, losesPrimary(t, "on"))
	})
	t.Run("commits that do not are lost", func(t *testing.T) {
		assert.Contains(t, losesPrimary(t, "local"), history.Lost)
	})
	t.Run("a timeline that was begun twice", func(t *testing.T) {
		kinds := beginsTimelineTwice(t)
		assert.Contains(t, kinds, history.Lost)
		assert.Contains(t, kinds, history.MembersDiffer)
	})
}

// losesPrimary has the standby away while clients go on, and promotes it then.
func losesPrimary(t *testing.T, synchronousCommit string) []history.Kind {
	a, b := newPair(t)
	o := Options{Seed: 1, Primary: config(t, a.address+","+b.address, "read-write"), Standbys: config(t, b.address)}
	o.Primary.RuntimeParams["synchronous_commit"] = synchronousCommit
	r := Start(o)
	defer r.Stop()
	waits(t, "commits", func() bool { return r.Acknowledged() > 50 })
	b.kill()
	if before := r.Acknowledged(); synchronousCommit == "on" {
		waits(t, "a commit waits", func() bool { return slices.ContainsFunc(r.History().Transactions, isUnknown) })
	} else {
		waits(t, "commits that are on one disk", func() bool { return r.Acknowledged() > before+50 })
	}
	a.kill()
	b.names = ""
	b.start("")
	b.promote()
	before := r.Acknowledged()
	waits(t, "commits at the next primary", func() bool { return r.Acknowledged() > before+50 })
	r.Stop()
	require.NoError(t, r.ReadFinal(t.Context(), Member{"b", config(t, b.address)}))
	return judge(t, r.History())
}

func isUnknown(t history.Transaction) bool { return t.Outcome == history.Unknown }

// beginsTimelineTwice promotes both members at the same position, one after the other. The second gets the
// first one as its standby, and nobody compares what they have: their timelines have one number.
func beginsTimelineTwice(t *testing.T) []history.Kind {
	a, b := newPair(t)
	b.awaits(a.query("SELECT pg_current_wal_flush_lsn()"))
	a.stop()
	b.promote()
	begun := time.Now()
	r := &Recorder{run: 1, begun: begun}
	var clients sync.WaitGroup
	write := func(s *server, key, value, waiting int) {
		clients.Go(func() { r.add(appendOne(t, begun, s, key, value)) })
		waits(t, "commits wait", func() bool {
			return s.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == fmt.Sprint(waiting)
		})
	}
	b.isQuiet()
	write(b, 1, 1, 1)
	b.kill()
	clients.Wait()
	r.LossAllowed()

	a.start("")
	a.promote()
	a.isQuiet()
	for n := 1; n <= 10; n++ {
		write(a, n, n+1, n)
	}
	b.start(a.address)
	clients.Wait()
	a.kill()
	b.promote()
	a.start("")
	r.readAll(t, b, a)
	return judge(t, r.History())
}

// readAll reads the lists of servers that do not follow each other.
func (r *Recorder) readAll(t *testing.T, servers ...*server) {
	for _, s := range servers {
		position := ""
		if s.query("SELECT pg_is_in_recovery()") == "t" {
			position = "0/0"
		}
		tx, err := r.readFinal(t.Context(), Member{s.name, config(t, s.address)}, &position)
		require.NoError(t, err)
		r.add(tx)
	}
}

// appendOne appends one value to a list, and waits for as long as its commit does.
func appendOne(t *testing.T, begun time.Time, s *server, key, value int) history.Transaction {
	ctx, cancel := context.WithTimeout(context.Background(), 2*testcluster.TestTimeout)
	defer cancel()
	c := &client{Recorder: &Recorder{run: 1}, source: history.Primary}
	tx := history.Transaction{Client: fmt.Sprint("client ", value), Source: history.Primary, Begin: time.Since(begun), Ops: []history.Op{{Key: key, Append: value}}}
	var err error
	if c.conn, err = pgconn.ConnectConfig(ctx, config(t, s.address)); assert.NoError(t, err) {
		_ = c.execute(ctx, &tx) // the outcome says it
		c.disconnect()
	}
	tx.End = time.Since(begun)
	return tx
}

func judge(t *testing.T, h history.History) (kinds []history.Kind) {
	found := history.Judge(h)
	t.Log(history.Summary(h, found))
	for _, a := range found {
		kinds = append(kinds, a.Kind)
	}
	return kinds
}

// server is a PostgreSQL.
type server struct {
	*testing.T
	name, data, address, programs string
	names                         string // whom commits wait for
	command                       *exec.Cmd
}

// newPair starts a primary whose commits wait for the standby b, which streams.
func newPair(t *testing.T) (a, b *server) {
	programs, folder := testpostgres.Find(t).Bin, t.TempDir()
	a = &server{T: t, name: "a", data: filepath.Join(folder, "a"), address: testport.Hold(t, "127.0.0.1"), programs: programs, names: "*"}
	b = &server{T: t, name: "b", data: filepath.Join(folder, "b"), address: testport.Hold(t, "127.0.0.1"), programs: programs, names: "*"}
	a.run("initdb", "--no-sync", "--username=app", "--auth=trust", "--pgdata="+a.data)
	require.NoError(t, os.CopyFS(b.data, os.DirFS(a.data)))
	require.NoError(t, os.Chmod(b.data, 0o700))
	a.start("")
	a.promote()
	a.query("SET synchronous_commit = local; " + createTable + "; CHECKPOINT; SELECT 1")
	b.start(a.address)
	waits(t, "the standby streams", func() bool {
		return a.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
	return a, b
}

func (s *server) run(program string, args ...string) {
	output, err := exec.CommandContext(s.Context(), filepath.Join(s.programs, program), args...).CombinedOutput()
	require.NoError(s, err, "%s", output)
}

// start starts it as a standby, of a primary if that is not empty.
func (s *server) start(primary string) {
	s.Helper()
	require.NoError(s, os.WriteFile(filepath.Join(s.data, "standby.signal"), nil, 0o600))
	host, port, _ := net.SplitHostPort(s.address)
	from := ""
	if primary != "" {
		primaryHost, primaryPort, _ := net.SplitHostPort(primary)
		from = fmt.Sprintf("host=%s port=%s user=app application_name=%s", primaryHost, primaryPort, s.name)
	}
	s.command = exec.Command(filepath.Join(s.programs, "postgres"), "-D", s.data, "-c", "listen_addresses="+host, "-c", "port="+port,
		"-c", "unix_socket_directories=", "-c", "cluster_name="+s.name, "-c", "synchronous_standby_names="+s.names, "-c", "primary_conninfo="+from,
		"-c", "restart_after_crash=off", "-c", "autovacuum=off", "-c", "wal_keep_size=256MB", "-c", "fsync=off")
	log, err := os.Create(s.data + ".log")
	require.NoError(s, err)
	defer log.Close()
	s.command.Stdout, s.command.Stderr = log, log
	require.NoError(s, s.command.Start())
	s.Cleanup(s.kill)
	waits(s, "it answers", func() bool { return s.query("SELECT 1") == "1" })
}

func (s *server) kill() { s.ends(syscall.SIGQUIT) }
func (s *server) stop() { s.ends(syscall.SIGINT) }

func (s *server) ends(signal syscall.Signal) {
	if s.command != nil {
		_ = s.command.Process.Signal(signal)
		_ = s.command.Wait() // an error says how it has ended
		s.command = nil
	}
}

func (s *server) promote() {
	s.Helper()
	s.query("SELECT pg_promote(false)")
	waits(s, "it takes writes", func() bool { return s.query("SELECT pg_is_in_recovery()") == "f" })
}

// isQuiet waits until the checkpoint of its promotion is over.
func (s *server) isQuiet() {
	s.Helper()
	waits(s, "the checkpoint is over", func() bool {
		return s.query("SELECT timeline_id = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int FROM pg_control_checkpoint()") == "t"
	})
}

func (s *server) awaits(position string) {
	s.Helper()
	waits(s, "it has all", func() bool { return s.query("SELECT pg_last_wal_replay_lsn() >= '"+position+"'") == "t" })
}

// query returns the first value of the last result, or the error.
func (s *server) query(sql string) string {
	ctx, cancel := context.WithTimeout(s.Context(), testcluster.TestTimeout)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, config(s, s.address))
	if err != nil {
		return err.Error()
	}
	defer conn.Close(context.Background())
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err == nil && len(results[len(results)-1].Rows) == 0 {
		err = errors.New("no row")
	}
	if err != nil {
		return err.Error()
	}
	return string(results[len(results)-1].Rows[0][0])
}

// config is how to connect to a server, or to the one of some that takes writes.
func config(t testing.TB, addresses string, which ...string) *pgconn.Config {
	c, err := pgconn.ParseConfig("postgres://app@" + addresses + "/postgres?sslmode=disable&connect_timeout=2&target_session_attrs=" + strings.Join(append(which, "any")[:1], ""))
	require.NoError(t, err)
	return c
}

func waits(t testing.TB, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 2*testcluster.TestTimeout, 10*time.Millisecond, what)
}
