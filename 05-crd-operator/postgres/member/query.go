package member

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// queryTimeout is how long PostgreSQL may take to answer what the agent asks.
const queryTimeout = 2 * time.Second

// clientName is what PostgreSQL knows agents by.
const clientName = "agent"

// session is a connection to a PostgreSQL, its own or that of another member. It is one that
// understands the commands of standbys as well as SQL.
type session struct{ *pgconn.PgConn }

// target is a PostgreSQL, and how to connect to it.
type target struct {
	host, port     string // the host may be the folder of a socket
	user, password string
	database       string // postgres, if it is empty
	tls            *tls.Config
	client         bool // a session as clients have it: it understands SQL only, and counts as theirs do
}

// open connects, if it is not connected, or not any more: a question that is cut off ends the connection.
func (s *session) open(ctx context.Context, t target) (err error) {
	if s.PgConn == nil || s.IsClosed() {
		*s, err = connect(ctx, t)
	}
	return err
}

// close disconnects, if it is connected.
func (s *session) close() {
	if s.PgConn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	_ = s.Close(ctx) // an error means that it is closed
	s.PgConn = nil
}

func connect(ctx context.Context, t target) (session, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	// Values of the environment, as of PGHOST, are not meant.
	config, err := pgconn.ParseConfig("sslmode=disable")
	if err != nil {
		return session{}, err
	}
	number, err := strconv.ParseUint(t.port, 10, 16)
	if err != nil {
		return session{}, fmt.Errorf("%q is no port", t.port)
	}
	config.Host, config.Port, config.User, config.Password, config.Database = t.host, uint16(number), t.user, t.password, cmp.Or(t.database, "postgres")
	config.TLSConfig, config.Fallbacks = t.tls, nil
	// These win over what somebody has set for a database, a role or all sessions. A standby refuses serializable
	// transactions, and a trial reads large tables.
	config.RuntimeParams = map[string]string{
		"replication": "database", "application_name": clientName,
		"default_transaction_read_only": "off", "default_transaction_isolation": "read committed", "statement_timeout": "0",
	}
	if t.client {
		delete(config.RuntimeParams, "replication")
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return session{}, err
	}
	return session{conn}, nil
}

// local is a database of a member's own PostgreSQL, by its socket. Only the agent can open that.
func (s *server) local(database string) target {
	_, port, _ := net.SplitHostPort(s.settings.address)
	return target{host: s.settings.sockets, port: port, user: superuser, database: database}
}

// peer is another member: its name, where its PostgreSQL listens, and its pod.
type peer struct {
	name, address string
	uid           types.UID
}

// errUnreachable means that the member that is named cannot be reached. It may be down, and then
// the operator names another, in its own time.
var errUnreachable = errors.New("the primary cannot be reached")

// connectMember connects to the PostgreSQL of another member, if it is that of the pod that is
// meant: its address may be another's by now.
func connectMember(ctx context.Context, p peer, files secrets) (session, error) {
	host, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return session{}, fmt.Errorf("%w: it has published no address yet: %w", errUnreachable, err)
	}
	password, err := files.password(replicator)
	if err != nil {
		return session{}, err
	}
	encrypted, err := files.client(p.name)
	if err != nil {
		return session{}, err
	}
	s, err := connect(ctx, target{host: host, port: port, user: replicator, password: password, tls: encrypted})
	if err != nil {
		return session{}, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	row, err := s.row(ctx, "SHOW cluster_name")
	if err == nil && row[0] != string(p.uid) {
		err = fmt.Errorf("%w: %s is the address of %q", errUnreachable, p.address, row[0])
	}
	if err != nil {
		s.close()
		return session{}, err
	}
	return s, nil
}

// within runs a command, and returns its rows as text.
func (s session) within(ctx context.Context, timeout time.Duration, command string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	results, err := s.Exec(ctx, command).ReadAll()
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, result := range results {
		for _, values := range result.Rows {
			row := make([]string, len(values))
			for i, value := range values {
				row[i] = string(value)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// rows runs a command that takes no time.
func (s session) rows(ctx context.Context, command string) ([][]string, error) {
	return s.within(ctx, queryTimeout, command)
}

// row runs a command that has one row.
func (s session) row(ctx context.Context, command string) ([]string, error) {
	rows, err := s.rows(ctx, command)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("%s: %d rows", command, len(rows))
	}
	return rows[0], nil
}

// identify returns the identity of the database, and how much of its log is on the disk. What
// functions of SQL say about timelines is that of the last checkpoint, which is the old one
// right after a promotion.
func (s session) identify(ctx context.Context) (system string, p plan.Position, err error) {
	row, err := s.row(ctx, "IDENTIFY_SYSTEM")
	if err != nil {
		return "", plan.Position{}, err
	}
	timeline, err := strconv.ParseInt(row[1], 10, 32)
	if err != nil {
		return "", plan.Position{}, err
	}
	at, err := parseLSN(row[2])
	return row[0], plan.Position{Timeline: int32(timeline), At: at}, err
}

// history is where the timelines before this one ended.
func (s session) history(ctx context.Context, timeline int32) ([]plan.Fork, error) {
	if timeline == 1 {
		return nil, nil
	}
	row, err := s.row(ctx, fmt.Sprintf("TIMELINE_HISTORY %d", timeline))
	if err != nil {
		return nil, err
	}
	return parseHistory(row[1])
}

// await asks until it is so, or the time is over.
func (s session) await(ctx context.Context, timeout time.Duration, what, condition string) error {
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, timeout, true, func(ctx context.Context) (bool, error) {
		row, err := s.row(ctx, "SELECT "+condition)
		return err == nil && row[0] == "t", err
	})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w", what, err)
	}
	return nil
}
