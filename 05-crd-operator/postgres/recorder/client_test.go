package recorder

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
)

// What a server does with a COMMIT, or with what comes before it.
var (
	done    = func(b *pgproto3.Backend) bool { return true }
	warning = func(b *pgproto3.Backend) bool {
		b.Send(&pgproto3.NoticeResponse{Severity: "WARNING", SeverityUnlocalized: "WARNING", Message: "canceling wait for synchronous replication"})
		return true
	}
	notice = func(b *pgproto3.Backend) bool {
		b.Send(&pgproto3.NoticeResponse{Severity: "NOTICE", SeverityUnlocalized: "NOTICE"})
		return true
	}
	conflict = func(b *pgproto3.Backend) bool {
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "40001"})
		return true
	}
	shutdown = func(b *pgproto3.Backend) bool {
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P01"})
		return false
	}
	cut = func(*pgproto3.Backend) bool { return false }
)

func TestWhatAClientKnows(t *testing.T) {
	type answer = func(*pgproto3.Backend) bool
	for name, tc := range map[string]struct {
		before, commit answer
		want           history.Outcome
		goesOn         bool // over the same connection
	}{
		"it was committed":                         {done, done, history.OK, true},
		"a notice is no warning":                   {done, notice, history.OK, true},
		"it is on one disk":                        {done, warning, history.Unknown, true},
		"no answer":                                {done, cut, history.Unknown, false},
		"the server ends while the commit waits":   {done, shutdown, history.Unknown, false},
		"two transactions are in each other's way": {done, conflict, history.Failed, true},
		"the same, before COMMIT":                  {conflict, done, history.Failed, true},
		"no answer before COMMIT":                  {cut, done, history.Failed, false},
		"the server ends before COMMIT":            {shutdown, done, history.Failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, func(b *pgproto3.Backend, sql string) bool {
				switch {
				case sql == "COMMIT":
					return tc.commit(b)
				case strings.HasPrefix(sql, "BEGIN"):
					for _, value := range []string{"", "uid", "{1,2}", ""} {
						b.Send(&pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, 2)})
						b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(value), []byte("00000002")}})
						b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
					}
					return tc.before(b)
				}
				return true
			})
			c := &client{Recorder: &Recorder{}, source: history.Primary, random: rand.New(rand.NewPCG(1, 1)), conn: conn}
			conn.CustomData()["client"] = c
			tx := history.Transaction{Ops: []history.Op{{Key: 1}, {Key: 2, Append: 3}}}
			err := c.execute(t.Context(), &tx)
			assert.Equal(t, tc.want, tx.Outcome)
			assert.Equal(t, tc.goesOn, err == nil, "%v", err)
			if tc.want != history.Failed {
				assert.Equal(t, []int{1, 2}, tx.Ops[0].List)
				assert.Equal(t, "uid", tx.Server)
			}
		})
	}
}

// connect connects to a server that answers as it is told, and ends the connection if that returns false.
func connect(t *testing.T, answer func(*pgproto3.Backend, string) bool) *pgconn.PgConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		backend := pgproto3.NewBackend(conn, conn)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		backend.Send(&pgproto3.AuthenticationOk{})
		for goesOn := true; ; {
			if goesOn {
				backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			}
			if backend.Flush() != nil || !goesOn {
				return
			}
			message, err := backend.Receive()
			query, isQuery := message.(*pgproto3.Query)
			if err != nil || !isQuery {
				return
			}
			if goesOn = answer(backend, query.String); goesOn {
				backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("OK")})
			}
		}
	}()
	config, err := pgconn.ParseConfig("sslmode=disable user=app host=127.0.0.1 port=" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	require.NoError(t, err)
	config.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) { conn.CustomData()["client"].(*client).notice(n) }
	conn, err := pgconn.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()); listener.Close(); <-done })
	return conn
}
