package plan_test

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// observation is what a decision of the operator depends on. The code under test is called once
// for each that is different; there are far fewer of them than worlds.
type observation struct {
	spec    spec
	status  status
	holder  pod
	expired bool
	members [3]observed
	waited  delay
}

type observed struct {
	disk                 int8
	pod, ended, deleting bool
	outdated             bool
	run                  int8
	report               report
}

// report is a plan.Report in small. One of run 0 is no answer.
type report struct {
	run, term, timeline, names, following, syncedWith int8
	complete, running, writable                       bool
	streaming                                         [3]bool
}

// delay is how long those that do not answer have been silent, and how long there has been
// no primary.
type delay int8

var waits = []time.Duration{2 * time.Second, 5 * time.Second, time.Minute}

// opinion is what a member's next step depends on.
type opinion struct {
	pod             pod
	seen            view
	holds, diverged bool
	report          report
}

// report is what a member says of itself.
func (w *world) report(n int8) report {
	m := w.at(n)
	r := report{run: m.run, term: m.seen.term, timeline: m.log.timeline, names: m.names, following: m.following, complete: m.complete, running: m.running, writable: m.writable}
	for s := range w.members {
		r.streaming[s] = w.streams(int8(s+1), n)
	}
	if m.writable && m.names != 0 && w.streams(m.names, n) && w.at(m.names).log.length() >= m.position {
		r.syncedWith = m.names
	}
	return r
}

// streams reports whether a standby receives from a member.
func (w *world) streams(standby, from int8) bool {
	s := w.at(standby)
	return s.following == from && s.running && w.at(from).running && s.log.isSent(&w.at(from).log)
}

// observe is what the operator sees if all of it is as it is now.
func (w *world) observe(waited delay) observation {
	o := w.objects()
	o.waited = waited
	for n := range o.members {
		o.hear(w, int8(n+1))
	}
	return o
}

// objects are those of the cluster.
func (w *world) objects() observation {
	o := observation{spec: w.spec, status: w.status, holder: w.holder, expired: w.expired}
	for i := range w.members {
		m := &w.members[i]
		o.members[i] = observed{disk: m.disk, pod: m.pod, ended: m.ended, deleting: m.deleting, outdated: m.outdated, run: m.run}
	}
	return o
}

// hear adds the report of a member, if that answers.
func (o *observation) hear(w *world, n int8) {
	if m := w.at(n); m.works() && !m.mute {
		o.members[n-1].report = w.report(n)
	}
}

// A look takes time: first come the objects, then the reports of all members but the primary, and then
// that of the primary. Meanwhile things happen.
type look struct {
	observation
	at       int8 // how far it is
	outdated bool // the cluster has changed since, so Kubernetes refuses what is decided on it
}

const (
	atObjects = 1
	atMembers = 2
)

// hear adds the report of the primary, or those of the others.
func (l *look) hear(w *world, primary bool) {
	for i := range l.members {
		if n := int8(i + 1); (n == l.status.primary) == primary {
			l.observation.hear(w, n)
		}
	}
}

// full is the observation as the code under test reads it.
func (o observation) full() plan.Observed {
	cluster := &postgres.PostgresCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec:       postgres.PostgresClusterSpec{Size: int32(o.spec.size), Primary: names[o.spec.primary]},
		Status:     o.status.full(),
	}
	if o.spec.leaveMember != 0 {
		cluster.Spec.AllowDataLoss = &postgres.AllowDataLoss{Member: names[o.spec.leaveMember], Term: int64(o.spec.leaveTerm)}
	}
	if o.spec.backup {
		cluster.Spec.Backup = &postgres.Backup{Schedule: "@every 1h"}
		cluster.Status.Backup = &postgres.BackupStatus{LastBackup: &metav1.Time{}}
	}
	if o.spec.deleted {
		cluster.DeletionTimestamp = &metav1.Time{}
	}
	out := plan.Observed{Cluster: cluster, Backup: plan.Backup{Disk: o.spec.backup}, Lease: plan.Lease{Holder: o.holder.uid(), Expired: o.expired}, Leaderless: waits[o.waited]}
	for i, m := range o.members {
		if m.disk != 0 || m.pod {
			out.Members = append(out.Members, m.full(int8(i+1), o))
		}
	}
	return out
}

func (m observed) full(n int8, o observation) plan.Member {
	out := plan.Member{Name: names[n], Number: int(n), Disk: plan.Disk(m.disk)}
	if !m.pod {
		return out
	}
	out.Pod = &plan.Pod{UID: pod{n, m.run}.uid(), Started: true, Ended: m.ended, Deleting: m.deleting, Role: plan.Standby, Outdated: m.outdated}
	if n == o.status.primary {
		out.Pod.Role = plan.Primary
	}
	if m.report.run == 0 {
		out.Silent = waits[o.waited]
		return out
	}
	out.Report = m.report.full(pod{n, m.report.run})
	return out
}

func (r report) full(p pod) *plan.Report {
	out := &plan.Report{
		UID: p.uid(), Term: int64(r.term), Timeline: int32(r.timeline) + 1, Data: plan.Empty, Running: r.running, Writable: r.writable,
		Following: names[r.following], Names: names[r.names], SyncedWith: names[r.syncedWith],
	}
	if r.complete {
		out.Data = plan.Complete
	}
	for s, streams := range r.streaming {
		if streams {
			out.Streaming = append(out.Streaming, names[s+1])
		}
	}
	return out
}

func (o opinion) full() plan.View {
	return plan.View{Name: names[o.pod.member], UID: o.pod.uid(), Status: o.seen.full(), HoldsLease: o.holds, Diverged: o.diverged, Report: *o.report.full(o.pod)}
}

// minds remember what the code under test has decided.
type minds struct {
	decisions map[observation]pending
	steps     map[opinion]plan.Step
}

func newMinds() *minds {
	return &minds{decisions: map[observation]pending{}, steps: map[opinion]plan.Step{}}
}

func (m *minds) decide(o observation) pending {
	p, known := m.decisions[o]
	if !known {
		d := plan.Cluster(o.full())
		p = pending{action: action(slices.Index(actions, d.Action)), member: number(d.Member), pod: podOf(d.UID)}
		if d.Status != nil {
			p.status = short(d.Status)
		}
		m.decisions[o] = p
	}
	return p
}

func (m *minds) step(o opinion) plan.Step {
	s, known := m.steps[o]
	if !known {
		s = plan.NextStep(o.full())
		m.steps[o] = s
	}
	return s
}
