package load

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// StandingOptions are those of a measurement of Ats that wait.
type StandingOptions struct {
	Programs
	Ats  int
	Idle time.Duration // how long to watch the manager do nothing
}

// Moment is what was measured at a moment.
type Moment struct {
	Name     string
	Took     time.Duration // since the moment before
	Manager  usage         // its cores are an average since then
	Heap     float64       // MiB of the manager that are in use
	Requests float64       // of the manager since then; every two seconds one renews its Lease
	Server   usage
	Storage  float64 // MiB, the file of etcd
}

// standing is such a measurement.
type standing struct {
	o        StandingOptions
	progress io.Writer
	managers *managers
	leader   *manager
	last     reading
	moments  []Moment
}

// Standing creates Ats that are due tomorrow, and measures what they cost: a manager that
// leads, the start of another, and a time in which nothing happens.
// It returns the moments so far, also when it is stopped.
func Standing(ctx context.Context, o StandingOptions, progress io.Writer) ([]Moment, error) {
	m, leader, stop, err := startManagers(ctx, o.Programs, 1, progress)
	defer stop()
	if err != nil {
		return nil, err
	}
	s := &standing{o: o, progress: progress, managers: m, leader: leader}
	err = s.run(ctx)
	if ctx.Err() != nil {
		err = nil
		_ = s.note(context.WithoutCancel(ctx), "it was interrupted") // there may be no leader just then
	}
	return s.moments, err
}

func (s *standing) run(ctx context.Context) (err error) {
	if s.last, err = s.managers.read(ctx, s.leader); err != nil {
		return err
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	if err := s.pending(ctx); err != nil {
		return err
	}
	if err := s.note(ctx, "the leader has seen them all"); err != nil {
		return err
	}
	return s.restart(ctx)
}

const waiting = "waiting" // the namespace of the Ats

// create creates the Ats, as fast as the API server takes them.
func (s *standing) create(ctx context.Context) error {
	fmt.Fprintf(s.progress, "creating %d Ats that are due tomorrow\n", s.o.Ats)
	if err := s.managers.cluster.createNamespace(ctx, waiting); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tomorrow := time.Now().Add(24 * time.Hour)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range creators {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(s.o.Ats) && ctx.Err() == nil; i = next.Add(1) {
				name := types.NamespacedName{Namespace: waiting, Name: fmt.Sprintf("at-%d", i)}
				if err := s.managers.cluster.createAt(context.WithoutCancel(ctx), name, tomorrow); err != nil {
					cancel(err)
				}
				if i%10_000 == 0 {
					fmt.Fprintf(s.progress, "created %d\n", i)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// pending waits until the manager has written the status of each.
func (s *standing) pending(ctx context.Context) error {
	return s.await(ctx, "have a status", 2*time.Second, func() (float64, error) {
		server, err := s.managers.cluster.scrapeServer(ctx)
		written := server.sum("apiserver_request_total", "resource", "ats", "subresource", "status", "verb", "PUT", "code", "200")
		fmt.Fprintf(s.progress, "%.0f have a status\n", written)
		return written, err
	})
}

// await counts until all are there, or none has come for startLimit.
func (s *standing) await(ctx context.Context, what string, pause time.Duration, count func() (float64, error)) error {
	most, came := 0.0, time.Now()
	for {
		n, err := count()
		switch {
		case err != nil:
			return err
		case n >= float64(s.o.Ats):
			return nil
		case n > most:
			most, came = n, time.Now()
		case time.Since(came) > startLimit:
			return fmt.Errorf("%.0f of %d Ats %s, and for %s no other", n, s.o.Ats, what, startLimit)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// restart ends the leader, which gives its Lease back, and starts another.
func (s *standing) restart(ctx context.Context) error {
	fmt.Fprintln(s.progress, "starting another leader")
	s.managers.remove(s.leader, syscall.SIGTERM)
	began := time.Now()
	next, err := s.managers.start(ctx) // until its caches are full
	if err != nil {
		return err
	}
	s.leader = next
	s.last = reading{at: began, manager: families{}, server: s.last.server}
	if err := s.note(ctx, "another has filled its caches"); err != nil {
		return err
	}
	if err := s.await(ctx, "are reconciled", 200*time.Millisecond, func() (float64, error) {
		f, err := s.managers.scrape(ctx, s.leader)
		return f.sum("controller_runtime_reconcile_total", "controller", atController), err
	}); err != nil {
		return err
	}
	if err := s.note(ctx, "it has reconciled them all"); err != nil {
		return err
	}
	fmt.Fprintf(s.progress, "watching it do nothing for %s\n", s.o.Idle)
	if err := sleep(ctx, s.o.Idle); err != nil {
		return err
	}
	return s.note(ctx, "it has done nothing")
}

// note measures a moment.
func (s *standing) note(ctx context.Context, name string) error {
	now, err := s.managers.read(ctx, s.leader)
	if err != nil {
		return err
	}
	step := now.since(s.last)
	s.moments = append(s.moments, Moment{
		Name: name, Took: now.at.Sub(s.last.at), Manager: step.Manager, Server: step.Server,
		Heap:     now.manager.sum(liveHeap) / (1 << 20),
		Requests: now.manager.sum("rest_client_requests_total") - s.last.manager.sum("rest_client_requests_total"),
		Storage:  storage(now.server),
	})
	s.last = now
	return nil
}

// PrintStanding prints the moments as a table.
func PrintStanding(out io.Writer, moments []Moment) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHEN\tTOOK\tMANAGER\tITS HEAP\tITS CORES\tITS REQUESTS\tAPI SERVER\tETCD")
	for _, m := range moments {
		fmt.Fprintf(table, "%s\t%s\t%.0f MiB\t%.0f MiB\t%.2f\t%.0f\t%.0f MiB\t%.0f MiB\n",
			m.Name, m.Took.Round(100*time.Millisecond), m.Manager.resident, m.Heap, m.Manager.cores, m.Requests, m.Server.resident, m.Storage)
	}
	_ = table.Flush()
}
