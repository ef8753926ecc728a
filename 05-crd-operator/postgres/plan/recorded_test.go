package plan_test

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/05-crd-operator/postgres/trace"
)

var traces = flag.String("traces", "testdata", "the `folder` of the recorded runs")

// The real operator and real agents have done this, as member/e2e has recorded it.
func TestRecordedRuns(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*traces, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded runs in %s: %v", *traces, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if err := refines(readTrace(t, file)); err != nil {
				t.Error(err)
			}
		})
	}
}

func readTrace(t *testing.T, path string) (run []trace.Event) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); ; {
		var e trace.Event
		switch err := decoder.Decode(&e); err {
		case nil:
			run = append(run, e)
		case io.EOF:
			if len(run) == 0 {
				t.Fatalf("%s is empty", path)
			}
			return run
		default:
			t.Fatal(err)
		}
	}
}

// What a real run cannot have been is refused, and for that event.
func TestARunThatCannotBeIsRefused(t *testing.T) {
	type events = []trace.Event
	is := func(name string, step plan.Step) func(trace.Event) bool {
		return func(e trace.Event) bool { return e.Agent != nil && e.Agent.View.Name == name && e.Agent.Step == step }
	}
	phase := func(p postgres.Phase, term int64) func(trace.Event) bool {
		return func(e trace.Event) bool {
			return e.Cluster != nil && e.Cluster.Status.Phase == p && e.Cluster.Status.Term == term
		}
	}
	leased := func(is bool) func(trace.Event) bool {
		return func(e trace.Event) bool { return e.Lease != nil && (e.Lease.Holder != "") == is }
	}
	reads := func(e trace.Event) bool { return e.Client != nil && e.Client.Reads > 0 }
	without := func(which func(trace.Event) bool) func(events) events {
		return func(run events) events { i := slices.IndexFunc(run, which); return slices.Delete(run, i, i+1) }
	}
	change := func(which func(trace.Event) bool, how func(*trace.Event)) func(events) events {
		return func(run events) events { how(&run[slices.IndexFunc(run, which)]); return run }
	}
	for name, tc := range map[string]struct {
		edit func(events) events
		want string
	}{
		"a promotion in an old term": {
			change(is("db-2", plan.Promote), func(e *trace.Event) { e.Agent.View.Status.Term = 1 }),
			`NextStep says ""`,
		},
		"a timeline that another primary began": {
			change(func(e trace.Event) bool {
				return e.Agent != nil && e.Agent.View.Report.Writable && e.Agent.View.Name == "db-2"
			}, func(e *trace.Event) { e.Agent.View.Report.Timeline-- }),
			"db-2 in term 2",
		},
		"a step that NextStep does not take": {
			change(is("db-2", plan.SetNames), func(e *trace.Event) { e.Agent.Step = plan.Promote }),
			`NextStep says "SetNames"`,
		},
		"a standby that is synced too early": {
			change(func(e trace.Event) bool { return e.Cluster != nil && e.Cluster.Status.Standby != "" }, func(e *trace.Event) { e.Cluster.Status.Synced = []string{"db-1", "db-2"} }),
			"synced [db-1 db-2]",
		},
		"a standby that is synced and proves nothing": {
			func(run events) events {
				for i := range run {
					if e := run[i].Agent; e != nil && e.View.Report.SyncedWith == "db-2" {
						run[i].Agent.View.Report.SyncedWith, run[i].Agent.View.Report.Names = "", "nobody"
					}
				}
				return run
			},
			"NextStep says \"SetNames\"",
		},
		"a primary that is not synced": {
			change(phase(postgres.Promoting, 2), func(e *trace.Event) { e.Cluster.Status.Primary = "db-3" }),
			`primary "db-3"`,
		},
		"a term that is left out": {
			change(phase(postgres.Electing, 2), func(e *trace.Event) { e.Cluster.Status.Term++ }),
			"term 3",
		},
		"a status that comes after a newer one": {
			change(is("db-1", plan.FreeOwnLease), func(e *trace.Event) { e.Agent.View.Status.Phase, e.Agent.View.Status.Term = postgres.Seeding, 1 }),
			"no such status was written",
		},
		"a Lease that another holds":      {without(leased(false)), `primary "db-2"`},
		"a primary without the Lease":     {without(leased(true)), "the model could not"},
		"a primary that was not promoted": {without(is("db-2", plan.Promote)), "writable true"},
		"a member that is made by nobody": {
			change(func(e trace.Event) bool { return e.Pod != nil && e.Pod.Name == "db-2" }, func(e *trace.Event) { e.Pod.Name = "db-3" }),
			"the pod of db-3",
		},
		"a commit that is lost": {change(reads, func(e *trace.Event) { e.Client.Reads = 0 }), "a client is told"},
		"a commit that nobody took": {
			func(run events) events { return append(run, trace.Event{Client: &trace.Client{Acknowledged: 4}}) },
			"a client is told",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := refines(tc.edit(readTrace(t, filepath.Join("testdata", "switchover.jsonl"))))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
