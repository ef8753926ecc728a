package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"
)

// RampOptions are those of a ramp.
type RampOptions struct {
	Programs
	Rates []float64     // Ats a second, one after the other
	Each  time.Duration // how long each
}

// bend is the p99 that ends the ramp if it is larger: so late are the slowest of a hundred pods.
const bend = 5 * time.Second

// Step is what was measured at one rate.
type Step struct {
	Rate     float64
	Outcome  Outcome
	P50, P99 float64 // seconds from due to pod
	Manager  usage
	Server   usage
	Busy     float64 // the share of the machine's cores that worked; NaN where that is not known
	Workers  float64 // how many of the manager's were at work, on average
	Most     float64 // how many of them there are
	Queue    float64 // how many seconds a key has waited for a worker, on average
	Create   float64 // how many seconds the API server took to create a pod, on average
}

// usage is what a process has taken.
type usage struct {
	cores    float64
	resident float64 // MiB of memory, at the end
}

// Ramp creates more and more Ats a second, until their pods are late. It returns the steps that
// it has taken, also when it is stopped.
func Ramp(ctx context.Context, o RampOptions, progress io.Writer) ([]Step, error) {
	m, leader, stop, err := startManagers(ctx, o.Programs, []string{o.Manager}, 1, progress)
	defer stop()
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, rate := range o.Rates {
		fmt.Fprintf(progress, "%g Ats a second for %s\n", rate, o.Each)
		step, err := measure(ctx, m, leader, fmt.Sprintf("step-%d", len(steps)), rate, o.Each)
		if err != nil {
			return steps, err
		}
		fmt.Fprintln(progress, step.Outcome)
		steps = append(steps, step)
		if ctx.Err() != nil || step.P99 > bend.Seconds() {
			break
		}
	}
	return steps, nil
}

// measure takes one step, or a part of it if the context ends.
func measure(ctx context.Context, m *managers, leader *manager, name string, rate float64, each time.Duration) (Step, error) {
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	w, err := newWorkload(watching, m.cluster, name, math.MaxInt64, time.Minute)
	if err != nil {
		return Step{}, err
	}
	before, err := m.read(watching, leader)
	if err != nil {
		return Step{}, err
	}
	w.run(ctx, rate, each)
	after, err := m.read(watching, leader)
	if err != nil {
		return Step{}, err
	}
	step := after.since(before)
	step.Rate, step.Outcome = rate, w.wait(ctx)
	step.P50, step.P99 = Quantile(step.Outcome.Delays, 0.5), Quantile(step.Outcome.Delays, 0.99)
	if ctx.Err() == nil && (step.Outcome.Missed > 0 || len(step.Outcome.Delays) == 0) {
		step.P99 = math.Inf(1) // what never came is later than all that did
	}
	if step.Outcome.Ats == 0 {
		return step, errors.Join(errors.New("no At could be created"), step.Outcome.Problem)
	}
	return step, nil
}

// reading is what everybody reports at a time.
type reading struct {
	at              time.Time
	manager, server samples
	machine         procfs.CPUStat
}

func (m *managers) read(ctx context.Context, leader *manager) (r reading, err error) {
	r.at, r.machine = time.Now(), readMachineTime()
	if r.manager, err = m.scrape(ctx, leader); err != nil {
		return r, fmt.Errorf("reading the metrics of the manager: %w", err)
	}
	r.server, err = m.cluster.scrapeServer(ctx)
	return r, err
}

// since is what happened between two readings.
func (r reading) since(before reading) Step {
	seconds := r.at.Sub(before.at).Seconds()
	used := func(after, before samples) usage {
		return usage{cores: after.since(before, cpuSeconds, nil) / seconds, resident: after.sum(residentSet, nil) / (1 << 20)}
	}
	average := func(after, before samples, histogram model.LabelValue, labels model.LabelSet) float64 {
		return after.since(before, histogram+"_sum", labels) / after.since(before, histogram+"_count", labels)
	}
	ofController := model.LabelSet{"controller": atController}
	return Step{
		Manager: used(r.manager, before.manager),
		Server:  used(r.server, before.server),
		Busy:    busy(before.machine, r.machine),
		Workers: r.manager.since(before.manager, "controller_runtime_reconcile_time_seconds_sum", ofController) / seconds,
		Most:    r.manager.sum("controller_runtime_max_concurrent_reconciles", ofController),
		Queue:   average(r.manager, before.manager, "workqueue_queue_duration_seconds", model.LabelSet{"name": atController}),
		Create:  average(r.server, before.server, "apiserver_request_duration_seconds", model.LabelSet{"resource": "pods", "verb": "POST"}),
	}
}

// atController is the name of the controller of Ats, in its metrics.
const atController = "controllerruntime"

// PrintRamp prints the steps as a table, and under it where it bends, and what.
func PrintRamp(out io.Writer, steps []Step) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "Ats/s\tpods\tp50\tp99\tmanager\t\tAPI server\t\tmachine\tworkers\tin the queue\tto create a pod\t")
	for _, s := range steps {
		fmt.Fprintf(table, "%g\t%d\t%.2fs\t%.2fs\t%.2f cores\t%.0f MiB\t%.2f cores\t%.0f MiB\t%.0f %%\t%.1f of %g\t%.0f ms\t%.0f ms\t\n",
			s.Rate, len(s.Outcome.Delays), s.P50, s.P99, s.Manager.cores, s.Manager.resident, s.Server.cores, s.Server.resident,
			100*s.Busy, s.Workers, s.Most, 1000*s.Queue, 1000*s.Create)
	}
	_ = table.Flush()
	if len(steps) > 0 {
		fmt.Fprintf(out, "\n%s\n", steps[len(steps)-1].bends())
	}
}

// bends says whether the pods are late at this rate, and what there is too little of.
func (s Step) bends() string {
	const full = 0.9
	where := fmt.Sprintf("it bends at %g Ats a second", s.Rate)
	switch {
	case s.P99 <= bend.Seconds():
		return fmt.Sprintf("it does not bend at %g Ats a second", s.Rate)
	case s.Busy > full:
		return where + ": the machine has no more time"
	case s.Workers > full*s.Most:
		return where + ": the manager has no more workers"
	default:
		return where + ", and neither the machine nor the workers are at their end: look at how long a request takes"
	}
}
