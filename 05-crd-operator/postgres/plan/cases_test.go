package plan_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// A change is what differs in a case from a cluster that is well.
type change func(*plan.Observed)

type decisionCase struct {
	observed plan.Observed
	want     string // what the operator does; nothing if it is empty
}

func testDecisions(t *testing.T, cases map[string]decisionCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := line(plan.Cluster(tc.observed)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

type stepCase struct {
	view plan.View
	want plan.Step
}

func testSteps(t *testing.T, cases map[string]stepCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := plan.NextStep(tc.view); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// line is a decision in a line.
func line(d plan.Decision) string {
	if s := d.Status; s != nil {
		line := fmt.Sprintf("%s, term %d", s.Phase, s.Term)
		if s.Primary != "" {
			line += ", primary " + s.Primary
		}
		if s.Standby != "" {
			line += ", standby " + s.Standby
		}
		return line + fmt.Sprintf(", synced %v", s.Synced)
	}
	return strings.TrimSpace(strings.Join([]string{string(d.Action), d.Member, string(d.Role)}, " "))
}

// nothing is a cluster that was just created.
func nothing(size int32, changes ...change) plan.Observed {
	o := plan.Observed{Version: "17", Cluster: &postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: postgres.PostgresClusterSpec{Size: size}}}
	return with(o, changes)
}

// well is a cluster of a size in which nothing is to be done: db-1 is the primary in term 1, and
// db-2 is synced.
func well(size int32, changes ...change) plan.Observed {
	o := nothing(size)
	o.Cluster.Status = postgres.PostgresClusterStatus{Phase: postgres.Running, Term: 1, Primary: "db-1", PrimaryUID: uid("db-1"), Synced: []string{"db-1"}, Version: "17"}
	for n := range int(size) {
		o.Members = append(o.Members, standby(n+1))
	}
	primary := &o.Members[0]
	primary.Pod.Role, primary.Report.Writable, primary.Report.Following = plan.Primary, true, ""
	if size > 1 {
		o.Cluster.Status.Standby, o.Cluster.Status.Synced = "db-2", []string{"db-1", "db-2"}
		primary.Report.Names, primary.Report.SyncedWith = "db-2", "db-2"
		for n := 2; n <= int(size); n++ {
			primary.Report.Streaming = append(primary.Report.Streaming, names[n])
		}
	}
	o.Lease.Holder = uid("db-1")
	return with(o, changes)
}

func uid(name string) types.UID { return types.UID("pod of " + name) }

func standby(number int) plan.Member {
	name := "db-" + strconv.Itoa(number)
	return plan.Member{
		Name: name, Number: number, Disk: plan.HasDisk, Pod: &plan.Pod{UID: uid(name), Started: true, Role: plan.Standby},
		Report: &plan.Report{UID: uid(name), Term: 1, Data: plan.Complete, Running: true, Following: "db-1", Received: 0x100},
	}
}

// electing is a cluster in term 2 without a primary. Its members know of that, and have stopped.
func electing(size int32, changes ...change) plan.Observed {
	o := well(size, statusOf(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary, s.PrimaryUID = postgres.Electing, 2, "", ""
	}))
	o.Lease.Holder = ""
	for _, m := range o.Members {
		m.Report.Term, m.Report.Writable, m.Report.Following = 2, false, ""
	}
	return with(o, changes)
}

func with(o plan.Observed, changes []change) plan.Observed {
	for _, c := range changes {
		c(&o)
	}
	return o
}

func statusOf(c func(*postgres.PostgresClusterStatus)) change {
	return func(o *plan.Observed) { c(&o.Cluster.Status) }
}

func specOf(c func(*postgres.PostgresClusterSpec)) change {
	return func(o *plan.Observed) { c(&o.Cluster.Spec) }
}

func ofMember(name string, c func(*plan.Member)) change {
	return func(o *plan.Observed) {
		c(&o.Members[slices.IndexFunc(o.Members, func(m plan.Member) bool { return m.Name == name })])
	}
}

func reported(name string, c func(*plan.Report)) change {
	return ofMember(name, func(m *plan.Member) { c(m.Report) })
}

func ended(name string) change {
	return ofMember(name, func(m *plan.Member) { m.Pod.Ended, m.Report = true, nil })
}

func silent(name string, since time.Duration) change {
	return ofMember(name, func(m *plan.Member) { m.Silent, m.Last, m.Report = since, m.Report, nil })
}

func noPod(name string) change {
	return ofMember(name, func(m *plan.Member) { m.Pod, m.Report = nil, nil })
}

func disk(name string, d plan.Disk) change {
	return ofMember(name, func(m *plan.Member) { m.Disk = d })
}

// absent is a member without a disk and a pod.
func absent(name string) change {
	return func(o *plan.Observed) {
		o.Members = slices.DeleteFunc(o.Members, func(m plan.Member) bool { return m.Name == name })
	}
}

func streaming(names ...string) change {
	return reported("db-1", func(r *plan.Report) { r.Streaming = names })
}

func tooSoon(name string) change {
	return func(o *plan.Observed) { o.TooSoon = append(o.TooSoon, name) }
}

func waited(d time.Duration) change { return func(o *plan.Observed) { o.Leaderless = d } }

func held(by string, expired bool) change {
	return func(o *plan.Observed) { o.Lease = plan.Lease{Holder: uid(by), Expired: expired} }
}

func leave(member string, term int64) change {
	return specOf(func(s *postgres.PostgresClusterSpec) {
		s.AllowDataLoss = &postgres.AllowDataLoss{Member: member, Term: term}
	})
}
