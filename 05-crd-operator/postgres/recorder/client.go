package recorder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
)

// The times of a client.
const (
	// A transaction that takes longer is given up. pgconn cancels what goes on then: a commit that
	// waits for a standby is seen by others, and is on one disk.
	transactionTimeout = 3 * time.Second
	pause              = 10 * time.Millisecond // between two transactions, so that the machine does other things, too
)

const createTable = "CREATE TABLE IF NOT EXISTS lists (run bigint, key int, list int[] NOT NULL, PRIMARY KEY (run, key))"

// client runs one transaction after the other, over one connection as long as that lasts.
type client struct {
	*Recorder
	name   string
	source history.Source
	writes bool
	config *pgconn.Config
	random *rand.Rand
	conn   *pgconn.PgConn
	warned bool // the server has sent a warning since the last transaction was begun
}

func (c *client) loop(ctx context.Context) {
	defer c.disconnect()
	for ctx.Err() == nil {
		// To give up a transaction would make it unknown, so it is finished.
		if err := c.transact(context.WithoutCancel(ctx)); err != nil {
			c.disconnect()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (c *client) transact(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, transactionTimeout)
	defer cancel()
	if err := c.connect(ctx); err != nil {
		return err
	}
	t := history.Transaction{Client: c.name, Source: c.source, Ops: c.choose(), Begin: time.Since(c.begun)}
	err := c.execute(ctx, &t)
	t.End = time.Since(c.begun)
	c.add(t)
	return err
}

func (c *client) connect(ctx context.Context) (err error) {
	if c.conn != nil {
		return nil
	}
	if c.conn, err = pgconn.ConnectConfig(ctx, c.config); err != nil || !c.writes {
		return err
	}
	_, err = c.conn.Exec(ctx, createTable).ReadAll()
	return err
}

func (c *client) disconnect() {
	if c.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.conn.Close(ctx) // it is closed in any case
		c.conn = nil
	}
}

func (c *client) notice(n *pgconn.Notice) { c.warned = c.warned || n.SeverityUnlocalized == "WARNING" }

// choose chooses what a transaction does. The lists in use change as values are appended, so that none
// gets long.
func (c *client) choose() []history.Op {
	const perList, lists = 40, 5
	ops := make([]history.Op, 1+c.random.IntN(4))
	for n := range ops {
		newest := int(c.value.Load())/perList + lists
		ops[n].Key = max(0, newest-c.random.IntN(2*lists))
		if c.writes && (n == 0 || c.random.IntN(2) == 0) {
			ops[n] = history.Op{Key: newest - c.random.IntN(lists), Append: int(c.value.Add(1))}
		}
	}
	return ops
}

// execute runs a transaction, and notes what came of it. An error ends the connection.
func (c *client) execute(ctx context.Context, t *history.Transaction) error {
	c.warned = false
	t.Outcome = history.Failed // as long as nobody has sent COMMIT
	results, err := c.conn.Exec(ctx, c.commands(t)).ReadAll()
	if err != nil {
		return c.goOn(ctx, err)
	}
	const before = 2 // BEGIN, and where it runs
	t.Server, t.Timeline = string(results[1].Rows[0][0]), string(results[1].Rows[0][1])
	for n := range t.Ops {
		if rows := results[before+n].Rows; t.Ops[n].Append == 0 && len(rows) > 0 {
			if t.Ops[n].List, err = parseList(string(rows[0][0])); err != nil {
				return err
			}
		}
	}
	_, err = c.conn.Exec(ctx, "COMMIT").ReadAll()
	switch {
	case err == nil && !c.warned:
		t.Outcome = history.OK
		if c.writes {
			c.acknowledged.Add(1)
		}
	case !rolledBack(err):
		t.Outcome = history.Unknown
	}
	return c.goOn(ctx, err)
}

// commands are all of a transaction but for its COMMIT.
func (c *client) commands(t *history.Transaction) string {
	begin, timeline := "BEGIN ISOLATION LEVEL SERIALIZABLE", "left(pg_walfile_name(pg_current_wal_lsn()), 8)"
	if c.source == history.Standby {
		begin, timeline = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "''"
	}
	commands := []string{begin, fmt.Sprintf("SELECT current_setting('cluster_name'), %s", timeline)}
	for _, op := range t.Ops {
		command := fmt.Sprintf("SELECT list FROM lists WHERE run = %d AND key = %d", c.run, op.Key)
		if op.Append != 0 {
			command = fmt.Sprintf("INSERT INTO lists VALUES (%d, %d, '{%d}') ON CONFLICT (run, key) DO UPDATE SET list = lists.list || excluded.list", c.run, op.Key, op.Append)
		}
		commands = append(commands, command)
	}
	return strings.Join(commands, "; ")
}

// rolledBack says whether an error of a COMMIT is that the transaction was rolled back: class 40 of
// PostgreSQL's codes. With any other one, it may have been committed.
func rolledBack(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(refused.Code, "40")
}

// goOn rolls back what PostgreSQL has refused. Another error is returned.
func (c *client) goOn(ctx context.Context, err error) error {
	if rolledBack(err) {
		_, err = c.conn.Exec(ctx, "ROLLBACK").ReadAll()
	}
	return err
}

// parseList parses an array as PostgreSQL prints it: {1,2}.
func parseList(text string) (list []int, err error) {
	text = strings.Trim(text, "{}")
	if text == "" {
		return nil, nil
	}
	for value := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}
