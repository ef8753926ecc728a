// Package member is the agent: the process that runs one PostgreSQL of a PostgresCluster.
//
//	command.go   the command line, and what PostgreSQL and a backup's pod run
//	agent.go     what it has, and what runs side by side
//	loop.go      observe, plan.NextStep, do that, again
//	observe.go   what the agent asks its own PostgreSQL, and reports
//	steps.go     what it can do
//	follow.go    receive from the primary, unless the logs have diverged
//	timeline.go  which timelines there are, and the one that a promotion begins
//	clone.go     copy the primary's database, again and again
//	logstream.go the log that is received meanwhile
//	slots.go     what log the primary keeps for others
//	archive.go   archive the log
//	archiver.go  what of it is in the archive
//	backup.go    make a base backup, and restore it on trial
//	restore.go   make a database of one
//	postgres.go  the server: initdb, start, settings, stop
//	process.go   its process, which never outlives the agent
//	settings.go  what is in its settings
//	altered.go   what ALTER SYSTEM must not change
//	control.go   pg_control: what a standby needs as much of as its primary
//	lapse.go     commits that were acknowledged on one disk
//	secrets.go   the passwords and certificates, as files, and those that change
//	roles.go     the roles, and what PostgreSQL stores of their passwords
//	layout.go    what is on the disk
//	space.go     what is left on the disk
//	query.go     a connection to a PostgreSQL, its own or that of another member
//	reach.go     whether new clients can connect
//	lease.go     the Lease, and its deadline
//	status.go    what others see
//	cluster.go   the API server
package member

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/05-crd-operator/postgres/trace"
)

// options say which member this is, and what it has.
type options struct {
	Name     string    // of the pod
	UID      types.UID // of the pod
	Data     string    // the folder of the volume
	Address  string    // host:port for PostgreSQL
	Status   string    // host:port for /status and /readyz
	Secrets  string    // the folder of the passwords and certificates
	Programs string    // the folder of postgres and initdb
	Program  string    // the agent's own, which PostgreSQL runs to archive its log

	Backup         archive.Folder // of the cluster's own backups; without it, nothing is archived
	ArchiveTimeout time.Duration  // how long a commit waits at most until it is archived
	Source         archive.Folder // of the backups to restore

	Trace *trace.Recorder // of what it observes and decides; nil if nobody wants it

	Cluster cluster
	Lease   resourcelock.Interface
}

// agent runs one PostgreSQL. Its fields belong to the loop, but for those below mu.
type agent struct {
	options
	server   *server
	lease    *lease
	archiver *archiver    // nil if nothing is archived
	listener net.Listener // of /status
	reporter reporter
	trouble  error          // of the last step
	restored *plan.Restored // what the database was made of, if this agent has restored it

	session  session // to its PostgreSQL, if it has answered
	silence  error   // why it did not, the last time
	begins   int32   // the timeline of its promotion since it was started, or 0: it was not promoted
	cutOff   bool    // PostgreSQL took writes when it was ended, before it was started
	started  time.Time
	names    string   // whom all of PostgreSQL's processes make commits wait for
	since    since    // from where on they wait for the standby that it has now
	lapse    lapse    // commits that may be on its disk only
	paused   bool     // PostgreSQL applies no more of the log
	replayed plan.LSN // when a step last waited for that
	followed followed
	streamed time.Time // when it last received from there
	diverged followed  // from whom
	kept     []string  // the folders of databases that were given up
	copies   copies    // the attempts to clone

	slotsKept time.Time // when unneeded slots were dropped last

	refreshed time.Time // when the Secrets were compared last

	reach         reach
	space         space
	full          bool      // the disk is nearly full
	readOnlySince time.Time // or writable since; when that has changed last

	mu      sync.Mutex
	status  postgres.PostgresClusterStatus
	term    context.Context // ends when another term begins
	endTerm context.CancelFunc
	news    chan struct{}
}

// errNotYet means that a step has to wait for something that comes by itself.
var errNotYet = errors.New("not yet")

// run runs the agent until its context ends, or PostgreSQL does. It leaves nothing behind but
// the database.
func (a *agent) run(ctx context.Context) error {
	defer os.RemoveAll(a.server.settings.sockets)
	status := &http.Server{Handler: a.reporter.handler(), ReadHeaderTimeout: requestTimeout}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = status.Serve(a.listener) // ends with Close
	}()
	defer func() { status.Close(); <-served }()

	g, running := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := a.Cluster.watch(running, a.see); running.Err() == nil {
			return fmt.Errorf("watching the cluster: %w", err)
		}
		return nil
	})
	g.Go(func() error { a.lease.run(running); return nil })
	g.Go(func() error { a.keepRoles(running); return nil })
	g.Go(func() error { a.space.run(running); return nil })
	g.Go(func() error { a.reach.run(running, a.attempt); return nil })
	g.Go(func() error { return a.loop(running) })
	if a.archiver != nil {
		g.Go(func() error { a.archiver.run(running); return nil })
	}
	return errors.Join(g.Wait(), a.end(context.WithoutCancel(ctx)))
}

func newAgent(ctx context.Context, o options) (*agent, error) {
	version, err := findVersion(ctx, o.Programs)
	if err != nil {
		return nil, err
	}
	files := layout(o.Data)
	if err := files.check(plan.Major(version)); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Status)
	if err != nil {
		return nil, fmt.Errorf("listening for /status: %w", err)
	}
	// Its path has to be short, and nobody else may open what is in it.
	sockets, err := os.MkdirTemp("", "pg-")
	if err != nil {
		return nil, err
	}
	a := &agent{
		options: o, listener: listener, news: make(chan struct{}, 1), space: space{files: files},
		server: &server{programs: o.Programs, files: files, settings: settings{uid: o.UID, version: version, member: o.Name, address: o.Address, sockets: sockets, secrets: secrets(o.Secrets)}},
	}
	a.term, a.endTerm = context.WithCancel(context.Background())
	a.lease = &lease{holder: o.UID, lapsed: a.server.stopImmediate, lock: o.Lease}
	if o.Backup != "" {
		// Standbys archive, too, so that the next primary knows what the last one has not done.
		a.server.settings.archive, a.server.settings.mode = archiveCommand(o.Program, string(o.Backup)), "always"
		a.archiver = &archiver{folder: o.Backup, server: a.server, timeout: o.ArchiveTimeout, holds: a.lease.holds}
	}
	return a, nil
}
