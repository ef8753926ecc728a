package writer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/writer"
)

// What a server does with a row.
type deed int

const (
	keep   deed = iota // and acknowledge it
	forget             // and acknowledge it all the same
	warn               // keep it, and answer with a warning
	cut                // the connection, without an answer
	drop               // the table, and acknowledge the row
)

// The deeds are those for rows 1, 2 and so on. After the last, the writer is stopped.
func TestWhatIsLost(t *testing.T) {
	for name, tc := range map[string]struct {
		deeds []deed
		want  string
		err   string
	}{
		"nothing":                           {[]deed{keep, keep, keep}, "3 rows acknowledged, 0 unknown, 0 lost", ""},
		"a row that was acknowledged":       {[]deed{keep, forget, keep}, "3 rows acknowledged, 0 unknown, 1 lost", "1 rows that were acknowledged are not there"},
		"the table":                         {[]deed{keep, drop}, "2 rows acknowledged, 0 unknown, 2 lost", "2 rows that were acknowledged are not there"},
		"not one that got no answer":        {[]deed{keep, cut, keep}, "2 rows acknowledged, 1 unknown, 0 lost", ""},
		"not one that came with a warning":  {[]deed{keep, warn, keep}, "2 rows acknowledged, 1 unknown, 0 lost", ""},
		"not one that was cut off at first": {[]deed{cut, keep}, "1 rows acknowledged, 1 unknown, 0 lost", ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := &server{t: t, deeds: tc.deeds, last: cancel, rows: map[string]bool{}}
			var out bytes.Buffer
			err := writer.Run(ctx, writer.Options{Config: s.listen(), Out: &out})
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tc.err)
			}
			assert.Contains(t, out.String(), tc.want)
			assert.Contains(t, out.String(), "is the first, on timeline 7\n")
		})
	}
}

func TestCommandsOfSQL(t *testing.T) {
	s := &server{t: t, rows: map[string]bool{"1": true}}
	config := s.listen()
	for sql, want := range map[string]string{"SELECT n FROM rows": "1\n", "CREATE TABLE more": "CREATE TABLE\n"} {
		command := writer.Command()
		var out bytes.Buffer
		command.SetOut(&out)
		command.SetArgs([]string{"--sql", sql, "--url", fmt.Sprintf("host=%s port=%d user=app sslmode=disable", config.Host, config.Port)})
		require.NoError(t, command.Execute())
		assert.Equal(t, want, out.String(), sql)
	}
}

func TestWhereToWriteIsNamedOnce(t *testing.T) {
	for _, args := range [][]string{{}, {"db", "other"}, {"db", "--url", "host=127.0.0.1"}} {
		command := writer.Command()
		command.SetArgs(args)
		command.SetErr(io.Discard)
		command.SilenceUsage = true
		assert.ErrorContains(t, command.Execute(), "name one PostgresCluster, or another PostgreSQL with --url", args)
	}
}

// server is a PostgreSQL that knows few commands. A writer has one connection at a time.
type server struct {
	t       *testing.T
	deeds   []deed
	last    func()
	rows    map[string]bool
	dropped bool // the table
}

func (s *server) listen() *pgconn.Config {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	done := make(chan struct{})
	s.t.Cleanup(func() { listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.serve(conn)
		}
	}()
	config, err := pgconn.ParseConfig("sslmode=disable user=postgres host=127.0.0.1 port=" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	require.NoError(s.t, err)
	return config
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	for {
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if backend.Flush() != nil {
			return
		}
		message, err := backend.Receive()
		query, isQuery := message.(*pgproto3.Query)
		if err != nil || !isQuery || !s.answer(backend, query.String) {
			return
		}
	}
}

var inserted = regexp.MustCompile(`^INSERT INTO rows VALUES \(\d+, (\d+),`)

// answer reports whether the connection goes on.
func (s *server) answer(backend *pgproto3.Backend, query string) bool {
	var rows []string
	if match := inserted.FindStringSubmatch(query); match != nil {
		n, err := strconv.Atoi(match[1])
		assert.NoError(s.t, err)
		if n >= len(s.deeds) {
			s.last()
		}
		deed := keep // of what the writer had begun when it was stopped
		if n <= len(s.deeds) {
			deed = s.deeds[n-1]
		}
		s.rows[match[1]] = deed == keep || deed == warn
		switch deed {
		case drop:
			s.dropped = true
		case warn:
			backend.Send(&pgproto3.NoticeResponse{Severity: "WARNUNG", SeverityUnlocalized: "WARNING", Code: "01000", Message: "canceling wait for synchronous replication due to user request"})
		case cut:
			return false
		}
		rows = []string{"7"}
	} else if s.dropped {
		backend.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "42P01", Message: `relation "rows" does not exist`})
		return true
	} else if strings.HasPrefix(query, "CREATE TABLE") {
		backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("CREATE TABLE")})
		return true
	} else if strings.HasPrefix(query, "SELECT n FROM rows") {
		for n, there := range s.rows {
			if there {
				rows = append(rows, n)
			}
		}
	}
	backend.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("n")}}})
	for _, row := range rows {
		backend.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(row)}})
	}
	backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("OK")})
	return true
}
