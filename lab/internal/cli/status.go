package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/memory"
	"example.com/hacking-a-controller/lab/internal/runtime"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/staticpod"
	"example.com/hacking-a-controller/lab/internal/supervisor"
	"example.com/hacking-a-controller/lab/internal/verbs"
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show every component: pid, port, health, memory",
		Long: `Show every component: its process, its port on 127.0.0.1, whether it is healthy
or why not, how often it was restarted, and its memory (proportional set size:
what it shares with others is counted in parts). The exit code is 1 unless all
are healthy.

Then it shows which file each static pod comes from, and which files beside them the
kubelet doesn't run, and how much of its surroundings a container has for itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.existing()
			if err != nil {
				return err
			}
			return a.status(cmd.Context(), l)
		},
	}
}

// row is one line of the table.
type row struct {
	name     string
	pid      int
	port     int
	restarts int
	health   string
	healthy  bool
}

func (a *app) status(ctx context.Context, l layout.Layout) error {
	pid, err := supervisor.PID(l)
	if err != nil {
		return err
	}
	if pid == 0 {
		fmt.Fprintf(a.out, "The lab in %s is not running (to start it: lab up).\n", l.Root())
		return exitCode(1)
	}
	rows, err := componentRows(ctx, l)
	if err != nil {
		return err
	}
	rows = append([]row{{name: "supervisor", pid: pid, health: "healthy", healthy: true}}, rows...)
	a.printStatus(rows)
	if err := a.printStaticPods(l); err != nil {
		return err
	}
	verbs.Print(a.out, l.FaultsSocket())
	fmt.Fprintln(a.out, "\nisolation of containers: "+runtime.Isolation(l.Runtime()))
	for _, r := range rows {
		if !r.healthy {
			return exitCode(1)
		}
	}
	return nil
}

// componentRows asks all components at once how they are.
func componentRows(ctx context.Context, l layout.Layout) ([]row, error) {
	s, err := settings.Load(l.Settings())
	if err != nil {
		return nil, err
	}
	state, err := supervisor.ReadState(l)
	if err != nil {
		return nil, err
	}
	checker, err := component.NewChecker(l)
	if err != nil {
		return nil, err
	}
	components := component.All(l, s)
	rows := make([]row, len(components))
	var wg sync.WaitGroup
	for i, c := range components {
		wg.Go(func() {
			known := state.Components[c.Name]
			if known.Static {
				rows[i] = staticRow(ctx, l, checker, c.Name)
				return
			}
			rows[i] = row{name: c.Name, pid: known.PID, port: c.Listens[0], restarts: known.Restarts}
			rows[i].health, rows[i].healthy = health(ctx, checker, c, known)
		})
	}
	wg.Wait()
	return rows, nil
}

// staticRow describes a component that the kubelet runs.
func staticRow(ctx context.Context, l layout.Layout, checker *component.Checker, name string) row {
	r := row{name: name}
	c, err := newestContainer(l, name)
	r.pid, r.restarts = c.PID, c.Attempt
	pod, readErr := staticpod.Read(l, name)
	if err := cmp.Or(err, readErr); err != nil {
		r.health = err.Error()
		return r
	}
	port, url := staticpod.Probe(pod)
	r.port = port
	switch {
	case c.Exit != nil:
		r.health = fmt.Sprintf("static pod: its container has ended with %d (its log: lab logs %s)", c.Exit.Code, name)
	case !c.Running():
		r.health = "static pod: it has no container (why: lab logs kubelet)"
	case url == "":
		r.health, r.healthy = "static pod: it runs, and has no liveness probe to ask", true
	default:
		r.health, r.healthy = "healthy (static pod)", true
		if err := checker.Probe(ctx, url); err != nil {
			r.health, r.healthy = "static pod: "+err.Error(), false
		}
	}
	return r
}

func health(ctx context.Context, checker *component.Checker, c component.Component, known supervisor.ComponentState) (string, bool) {
	switch {
	case known.PID == 0 && known.LastExit == "":
		return "waits for " + c.WaitFor, false
	case known.PID == 0 && known.Taken != "":
		return known.Taken, false
	case known.PID == 0:
		return "restarting: " + known.LastExit, false
	}
	if err := checker.Check(ctx, c.Health); err != nil {
		return err.Error(), false
	}
	return "healthy", true
}

func (a *app) printStatus(rows []row) {
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "COMPONENT\tPID\tPORT\tRESTARTS\tMEMORY\tHEALTH")
	var total uint64
	for _, r := range rows {
		size, err := memory.Of(r.pid)
		memoryText := "-"
		if err == nil {
			total += size
			memoryText = mebibytes(size)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", r.name, dash(r.pid), dash(r.port), r.restarts, memoryText, r.health)
	}
	fmt.Fprintf(w, "all\t\t\t\t%s\t\n", mebibytes(total))
	_ = w.Flush()
}

// printStaticPods says which file each static pod comes from, and which files are in the way.
func (a *app) printStaticPods(l layout.Layout) error {
	files, err := staticpod.Files(l)
	if err != nil || len(files) == 0 {
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "\nSTATIC POD\tFILE")
	for _, f := range files {
		note := ""
		if f.NotRun != "" {
			note = ", which the kubelet does not run: " + f.NotRun
		}
		fmt.Fprintf(w, "%s\t%s%s\n", f.Key(), f.Name, note)
	}
	return w.Flush()
}

// dash prints a number that may be missing.
func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func mebibytes(size uint64) string { return fmt.Sprintf("%d MiB", size>>20) }
