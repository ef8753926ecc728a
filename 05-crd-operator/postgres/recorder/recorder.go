// Package recorder has the clients of a PostgreSQL whose history package history judges. They append
// to lists and read lists, several of them at the same time, and never give up: after an error they
// connect again.
//
//	recorder.go  the clients, and how to start and stop them
//	client.go    one client, and what it knows of its transactions
//	final.go     what each member has in the end
package recorder

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
)

// How many clients there are.
const (
	writers        = 4 // they read, too
	readers        = 1
	standbyReaders = 2
)

// Options say where the clients connect.
type Options struct {
	Primary  *pgconn.Config
	Standbys *pgconn.Config // may be nil
	Seed     uint64         // of what they do
}

// Recorder records what its clients do.
type Recorder struct {
	Options
	run     int64 // lists of other runs are in the same table
	begun   time.Time
	stop    context.CancelFunc
	clients sync.WaitGroup

	value        atomic.Int64 // that was appended last
	acknowledged atomic.Int64

	mu      sync.Mutex
	history history.History
}

// Start starts the clients. They run until Stop.
func Start(o Options) *Recorder {
	ctx, stop := context.WithCancel(context.Background())
	r := &Recorder{Options: o, run: time.Now().UnixNano(), begun: time.Now(), stop: stop}
	count := 0
	start := func(many int, what string, source history.Source, writes bool, config *pgconn.Config) {
		for n := range many {
			count++
			c := &client{Recorder: r, name: fmt.Sprint(what, " ", n+1), source: source, writes: writes, random: rand.New(rand.NewPCG(o.Seed, uint64(count)))}
			c.config = config.Copy()
			c.config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { c.notice(n) }
			r.clients.Go(func() { c.loop(ctx) })
		}
	}
	start(writers, "writer", history.Primary, true, o.Primary)
	start(readers, "reader", history.Primary, false, o.Primary)
	if o.Standbys != nil {
		start(standbyReaders, "standby reader", history.Standby, false, o.Standbys)
	}
	return r
}

// Stop stops the clients. A transaction that has begun comes to its end.
func (r *Recorder) Stop() {
	r.stop()
	r.clients.Wait()
}

// LossAllowed notes that from now on, what was acknowledged until now may be lost.
func (r *Recorder) LossAllowed() {
	now := time.Since(r.begun)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.LossAllowed = append(r.history.LossAllowed, now)
}

// Acknowledged is how many transactions have appended something, and were acknowledged.
func (r *Recorder) Acknowledged() int { return int(r.acknowledged.Load()) }

// History returns what was recorded so far.
func (r *Recorder) History() history.History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return history.History{Transactions: slices.Clone(r.history.Transactions), LossAllowed: slices.Clone(r.history.LossAllowed)}
}

func (r *Recorder) add(t history.Transaction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Transactions = append(r.history.Transactions, t)
}
