package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/prometheus/common/model"
)

// SoakOptions are those of a soak.
type SoakOptions struct {
	Programs
	For  time.Duration
	Rate float64       // Ats a second
	Late time.Duration // a schedule is missed when the pod is later than this
	// Profiles is the folder for profiles of a manager, if something grows.
	Profiles string
}

const (
	shortest = time.Minute // in less, nothing can be seen to grow
	replicas = 2
	rotate   = time.Minute
	// settleLimit is how old a process must be before its values count, if that is not more than
	// a tenth of the soak. What keeps each event longest is client-go's recorder: six minutes,
	// and it looks every six minutes for what is older.
	settleLimit = 12 * time.Minute
	// compaction is how long a soak must be for etcd to tell: the API server compacts every five
	// minutes what is older than five, and only then is room used again.
	compaction = 40 * time.Minute
	// growthLimit is how much of its median a quantity may grow in the second half, if that is
	// more than its floor.
	growthLimit = 0.1
)

// Who reports. A leader has more of all than a standby, and leaks where a standby does nothing.
const (
	leaderRole  = "leader"
	standbyRole = "standby"
	serverRole  = "API server"
)

// quantity is something that must not grow.
type quantity struct {
	of     string // who reports it
	name   string
	unit   string
	read   func(samples) float64
	floor  float64       // growth that is nothing
	after  time.Duration // a shorter soak cannot tell
	points []Point
}

// quantities are what a soak watches. What a leader remembers of events may grow for as long as
// settleLimit: some 3 KiB for each At.
func quantities(rate float64) (all []*quantity) {
	number := func(name model.LabelValue) func(samples) float64 {
		return func(s samples) float64 { return s.sum(name, nil) }
	}
	mebibytes := func(name model.LabelValue) func(samples) float64 {
		return func(s samples) float64 { return s.sum(name, nil) / (1 << 20) }
	}
	watches := func(s samples) float64 {
		return s.sum("apiserver_longrunning_requests", model.LabelSet{"verb": "WATCH"})
	}
	heapFloor := map[string]float64{leaderRole: 4 + 0.8*rate, standbyRole: 2}
	for _, role := range []string{leaderRole, standbyRole} {
		all = append(all,
			&quantity{of: role, name: "live heap", unit: "MiB", read: mebibytes(liveHeap), floor: heapFloor[role]},
			&quantity{of: role, name: "goroutines", read: number(goroutines), floor: 20},
			&quantity{of: role, name: "descriptors", read: number(descriptors), floor: 5})
	}
	return append(all,
		&quantity{of: serverRole, name: "watches", read: watches, floor: 5},
		&quantity{of: serverRole, name: "file of etcd", unit: "MiB", read: mebibytes("apiserver_storage_size_bytes"), floor: 8, after: compaction})
}

// growth is how much it has grown in the second half, by its trend, and its median there.
func (q *quantity) growth(begin, end time.Time) (growth, median float64, enough bool) {
	settled := Settled(q.points, begin, end, min(settleLimit, end.Sub(begin)/10))
	if len(settled) < 5 || end.Sub(begin) < max(shortest, q.after) {
		return 0, Quantile(valuesOf(q.points), 0.5), false
	}
	return Slope(settled) * end.Sub(begin).Seconds() / 2, Quantile(valuesOf(settled), 0.5), true
}

// soak is one that runs.
type soak struct {
	o          SoakOptions
	progress   io.Writer
	managers   *managers
	workload   *workload
	begin      time.Time
	quantities []*quantity

	kills, cuts int
}

// Soak runs Ats for a time, and disturbs the managers meanwhile. It returns a report, also of
// one that was stopped, and an error if something grew, an At was missed, or had two pods.
func Soak(ctx context.Context, o SoakOptions, progress io.Writer) (*Report, error) {
	m, _, stop, err := startManagers(ctx, o.Programs, []string{o.Lab, "run", o.Manager}, replicas, progress)
	defer stop()
	if err != nil {
		return nil, err
	}
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	w, err := newWorkload(watching, m.cluster, "soak", rotate, o.Late)
	if err != nil {
		return nil, err
	}
	s := &soak{o: o, progress: progress, managers: m, workload: w, begin: time.Now(), quantities: quantities(o.Rate)}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	report := s.report(time.Now(), w.wait(ctx))
	return report, errors.Join(report.err(), s.profile(ctx, report))
}

// profile takes profiles of the leader, if something grows.
func (s *soak) profile(ctx context.Context, report *Report) error {
	if len(report.Grown()) == 0 || ctx.Err() != nil {
		return nil
	}
	leader, err := s.managers.lead(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{"heap", "goroutine"} {
		file := filepath.Join(s.o.Profiles, name+".pprof")
		if err := s.managers.profile(ctx, leader, name, file); err != nil {
			return fmt.Errorf("taking a profile: %w", err)
		}
		fmt.Fprintf(s.progress, "wrote a profile; to see where most of it is: go tool pprof -top %s\n", file)
	}
	return nil
}

// between is the time between two disturbances.
func (s *soak) between() time.Duration { return min(max(s.o.For/16, 20*time.Second), 150*time.Second) }

// run ends after the time, or with the context.
func (s *soak) run(ctx context.Context) error {
	creating, enough := context.WithCancel(ctx)
	created := make(chan struct{})
	go func() { defer close(created); s.workload.run(creating, s.o.Rate, s.o.For) }()
	defer func() { enough(); <-created }()

	sample := time.NewTicker(min(max(s.o.For/240, time.Second), 30*time.Second))
	defer sample.Stop()
	disturb := time.NewTicker(s.between())
	defer disturb.Stop()
	report := time.NewTicker(min(max(s.o.For/60, 10*time.Second), time.Minute))
	defer report.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-created:
			return nil
		case <-sample.C:
			err = s.sample(ctx)
		case <-disturb.C:
			err = s.disturb(ctx)
		case now := <-report.C:
			fmt.Fprintf(s.progress, "%s of %s: %s\n", now.Sub(s.begin).Round(time.Second), s.o.For, s.workload.outcome(now))
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// disturb kills the leader, or cuts all connections of the managers, in turn: watches and requests.
// Nobody is to be killed in the second half, because who is killed takes a leak along.
func (s *soak) disturb(ctx context.Context) error {
	planned := time.Duration(s.kills+s.cuts+1) * s.between() // a busy machine may be late
	if s.kills > s.cuts || planned >= s.o.For/2 {
		s.cuts++
		_, cut := s.managers.cluster.lab(ctx, "cut")
		_, heal := s.managers.cluster.lab(ctx, "heal")
		return errors.Join(cut, heal)
	}
	leader, err := s.managers.lead(ctx)
	if err != nil {
		return err
	}
	s.managers.remove(leader, syscall.SIGKILL)
	s.kills++
	_, err = s.managers.start(ctx)
	return err
}

// sample notes what all processes report.
func (s *soak) sample(ctx context.Context) error {
	now := time.Now()
	server, err := s.managers.cluster.scrapeServer(ctx)
	if err != nil {
		return err
	}
	s.add(now, serverRole, serverRole, server)
	for _, replica := range s.managers.live {
		if replica.ended() {
			return fmt.Errorf("%s has ended by itself; its log ends with: %s", replica.name, replica.tail())
		}
		f, err := s.managers.scrapeLive(ctx, replica)
		if err != nil {
			continue // it is busy, and the next sample will have it
		}
		role := standbyRole
		if f.sum("leader_election_master_status", nil) > 0 {
			role = leaderRole
		}
		s.add(now, role, replica.name, f)
	}
	return nil
}

// add notes what one process reports.
func (s *soak) add(now time.Time, role, process string, f samples) {
	for _, q := range s.quantities {
		if q.of == role {
			q.points = append(q.points, Point{At: now, Value: q.read(f), Process: process})
		}
	}
}

// Report is what a soak has found.
type Report struct {
	Outcome
	Length      time.Duration
	Kills, Cuts int
	rows        []row
}

type row struct {
	*quantity
	median, growth, allowed float64
	enough                  bool
}

func (s *soak) report(end time.Time, outcome Outcome) *Report {
	r := &Report{Outcome: outcome, Length: end.Sub(s.begin), Kills: s.kills, Cuts: s.cuts}
	for _, q := range s.quantities {
		growth, median, enough := q.growth(s.begin, end)
		r.rows = append(r.rows, row{q, median, growth, math.Max(q.floor, growthLimit*median), enough})
	}
	return r
}

// Grown is the names of what grew more than it may.
func (r *Report) Grown() (names []string) {
	for _, row := range r.rows {
		if row.enough && row.growth > row.allowed {
			names = append(names, row.name+" of the "+row.of)
		}
	}
	return names
}

func (r *Report) err() error {
	switch grown := r.Grown(); {
	case r.Missed > 0 || r.Double > 0 || r.Refused > 0:
		return fmt.Errorf("%s", r.Outcome)
	case len(grown) > 0:
		return fmt.Errorf("what grows: %s", strings.Join(grown, ", "))
	default:
		return nil
	}
}

// Print prints the report as a table.
func (r *Report) Print(out io.Writer) {
	fmt.Fprintf(out, "\n%s; the leader was killed %d times, all watches were cut %d times\n%s\n\n", r.Length.Round(time.Second), r.Kills, r.Cuts, r.Outcome)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OF\tWHAT\tMEDIAN\tGROWTH IN THE SECOND HALF\tALLOWED\tVERDICT")
	for _, row := range r.rows {
		verdict, growth := "flat", fmt.Sprintf("%+.1f", row.growth)
		switch {
		case !row.enough:
			verdict, growth = "too short to tell", "-"
		case row.growth > row.allowed:
			verdict = "GROWS"
		}
		fmt.Fprintf(table, "%s\t%s\t%.1f %s\t%s\t%.1f\t%s\n", row.of, row.name, row.median, row.unit, growth, row.allowed, verdict)
	}
	_ = table.Flush()
}
