package plan_test

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/05-crd-operator/postgres/trace"
)

// A possible is a state in which a recorded run may be: a world of the search, and the steps that
// members have begun, and may have done by now or not. A recording does not show how far logs go, when
// a step is done, or what the operator has decided and not done yet. So a run is in many of them at a time.
type possible struct {
	world
	begun [3]plan.Step
}

// A refinement follows a recorded run through the model. After each event, those are left that go with
// it. If there is none, the model could not have done that.
type refinement struct {
	scope    *scope
	states   map[possible]bool
	pods     map[types.UID]pod
	written  []view // statuses, as members see them
	seen     [3]int // the newest of these that each member has seen
	commits  int    // that clients have begun
	acked    int    // and that were acknowledged
	troubled bool   // members may be silent, or have lost the Lease
	violated string // a promise, on the way to the next event
}

func newRefinement() *refinement {
	s := &scope{minds: newMinds()}
	return &refinement{scope: s, states: map[possible]bool{{world: s.start()}: true}, pods: map[types.UID]pod{}, written: []view{{}}}
}

// refines returns an error that names the first event that the model could not have had.
func refines(run []trace.Event) error {
	r := newRefinement()
	written := slices.DeleteFunc(slices.Clone(run), func(e trace.Event) bool { return e.Version == 0 })
	for n, e := range run {
		if e.Version != 0 && (len(written) == 0 || e.Version < written[0].Version) {
			continue // an agent has seen it before the recorder did
		}
		if e.Version != 0 {
			written = written[1:]
		}
		next, taken, err := r.next(e, written, false)
		if err != nil { // before it, members may have been silent, and have lost the Lease
			if next, taken, _ = r.next(e, written, true); next == nil {
				return fmt.Errorf("event %d: %w", n+1, err)
			}
		}
		r, written = next, written[taken:]
	}
	return nil
}

// next is the refinement after one more event. What an agent does may come after some of what was
// written to the API server, and was recorded later.
func (r *refinement) next(e trace.Event, written []trace.Event, troubled bool) (next *refinement, taken int, err error) {
	next, err = r.after(e, troubled)
	for ahead := r; err != nil && e.Version == 0 && taken < len(written); taken++ {
		var early error
		if ahead, early = ahead.after(written[taken], troubled); early != nil {
			return nil, 0, fmt.Errorf("%w; and it cannot have seen what was written next: %w", err, early)
		}
		if next, early = ahead.after(e, troubled); early == nil {
			return next, taken + 1, nil
		}
	}
	return next, taken, err
}

// after is the refinement after an event.
func (r refinement) after(e trace.Event, troubled bool) (*refinement, error) {
	r.pods, r.violated, r.troubled = maps.Clone(r.pods), "", troubled
	before := r.closure()
	r.states = map[possible]bool{}
	var err error
	var what string
	switch {
	case e.Agent != nil:
		o := e.Agent.View.Report
		what = fmt.Sprintf("%s in term %d (%s, running %t, writable %t, timeline %d, names %q, following %q, synced with %q) decides %q", e.Agent.View.Name, o.Term, o.Data, o.Running, o.Writable, o.Timeline, o.Names, o.Following, o.SyncedWith, e.Agent.Step)
		err = r.agent(before, e.Agent.View, e.Agent.Step)
	case e.Cluster != nil:
		what = fmt.Sprintf("the status is %v", r.short(e.Cluster.Status))
		r.cluster(before, e.Cluster)
	case e.Lease != nil:
		what = fmt.Sprintf("the Lease is held by %q", names[r.pods[e.Lease.Holder].member])
		r.lease(before, r.pods[e.Lease.Holder])
	case e.Pod != nil:
		what = fmt.Sprintf("the pod of %s is %+v", e.Pod.Name, *e.Pod)
		r.pod(before, e.Pod)
	case e.Client != nil:
		what = fmt.Sprintf("a client is told %+v", *e.Client)
		r.client(before, e.Client)
	}
	if err == nil && len(r.states) == 0 {
		err = errors.New("the model could not have done that")
		if r.violated != "" {
			err = errors.New(r.violated)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &r, nil
}

// keep keeps a state, unless a promise is broken on the way to it.
func (r *refinement) keep(before *possible, m move, next possible) {
	if promise := broken(&before.world, m, &next.world, r.scope); promise != "" {
		r.violated = promise
		return
	}
	r.states[next] = true
}

// closure is where the run may be after anything that a recording does not show.
func (r *refinement) closure() map[possible]bool {
	all := maps.Clone(r.states)
	queue := slices.Collect(maps.Keys(r.states))
	for len(queue) > 0 {
		p := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		r.unseen(&p, func(m move, next possible) {
			if promise := broken(&p.world, m, &next.world, r.scope); promise != "" {
				r.violated = promise
			} else if !all[next] {
				all[next] = true
				queue = append(queue, next)
			}
		})
	}
	return all
}

// unseen visits what may come next without an event: a step is done, a commit begins or is received, the
// operator decides, or forgets what it has decided.
func (r *refinement) unseen(p *possible, visit func(move, possible)) {
	r.scope.commits = int8(min(3, r.commits+1)) // one more is PostgreSQL's own log, or an agent's
	for n := int8(1); n <= 3; n++ {
		for _, k := range []kind{commit, receive} {
			if next := *p; p.at(n).possible(k, &p.world, r.scope) && next.apply(move{kind: k, member: n}, r.scope) {
				visit(move{kind: k, member: n}, next)
			}
		}
		if step := p.begun[n-1]; step != plan.Wait && step != plan.TakeLease && step != plan.FreeOwnLease {
			next := *p
			next.begun[n-1] = plan.Wait
			if diverged := step == plan.Follow && p.diverged(n); !diverged && next.do(n, step, r.scope) {
				visit(move{kind: agentSteps, member: n}, next)
			}
		}
	}
	if r.troubled {
		r.unseenOfLease(p, visit)
	}
	if p.pending.action != none {
		next := *p
		next.pending = pending{}
		visit(move{kind: decide}, next)
		return
	}
	for silent := range 1 << len(p.members) {
		for waited := range delay(len(waits)) {
			if !r.troubled && (silent > 0 || waited > 0 && !p.waits()) {
				continue
			}
			o := p.observe(waited)
			for i := range o.members {
				if silent&(1<<i) != 0 {
					o.members[i].report = report{}
				}
			}
			if next := *p; next.decide(o, r.scope) {
				visit(move{kind: decide}, next)
			}
		}
	}
}

// unseenOfLease is what comes of a Lease that is not renewed: its holder stops, and then it runs out.
func (r *refinement) unseenOfLease(p *possible, visit func(move, possible)) {
	n := p.holder.member
	if n == 0 {
		return
	}
	next, m := *p, p.at(n)
	switch isHolder := m.alive() && p.podOf(n) == p.holder; {
	case isHolder && m.writable:
		next.at(n).stop()
		visit(move{kind: agentSteps, member: n}, next)
	case !p.expired:
		next.expired = true
		visit(move{kind: expire, member: n}, next)
	}
}

// diverged reports whether a member's log is no beginning of that of the primary that it has seen.
func (p *possible) diverged(n int8) bool {
	source := p.source(p.at(n))
	return source != nil && source != p.at(n) && p.at(n).log.hasDiverged(&source.log)
}

// cluster is a change of what people want, or of the status, which the operator has decided.
func (r *refinement) cluster(before map[possible]bool, c *trace.Cluster) {
	wanted, next := spec{size: int8(c.Size), primary: number(c.Primary)}, r.short(c.Status)
	if r.written[len(r.written)-1] != next.view() {
		r.written = append(r.written, next.view())
	}
	for p := range before {
		was := p
		if p.spec != wanted {
			p.spec = wanted
			p.conflicts(r.scope)
		}
		if p.status != next && (p.pending.action != writeStatus || p.pending.status != next || !p.act(r.scope)) {
			continue
		}
		r.keep(&was, move{kind: act}, p)
	}
}

// lease is taken by a member that has begun to do so, and freed by its holder, or by the operator.
func (r *refinement) lease(before map[possible]bool, holder pod) {
	for p := range before {
		was, m := p, p.holder
		step := plan.FreeOwnLease
		if holder != (pod{}) {
			m, step = holder, plan.TakeLease
		}
		switch {
		case m != (pod{}) && m == p.podOf(m.member) && p.begun[m.member-1] == step:
			p.begun[m.member-1] = plan.Wait
			p.do(m.member, step, r.scope)
		case p.pending.action == freeLease:
			p.act(r.scope)
		}
		if p.holder == holder {
			r.keep(&was, move{kind: act}, p)
		}
	}
}

// pod is made, deleted and removed by the operator, and its end is the kubelet's.
func (r *refinement) pod(before map[possible]bool, o *trace.Pod) {
	n := number(o.Name)
	known, isKnown := r.pods[o.UID]
	for p := range before {
		was, m, kind := p, p.at(n), move{kind: act, member: n}
		operates := func(a action) bool { return p.pending.action == a && p.pending.member == n && p.act(r.scope) }
		switch {
		case !isKnown && operates(createMember):
			r.pods[o.UID], r.seen[n-1] = p.podOf(n), len(r.written)-1
			p.begun[n-1] = plan.Wait
		case !isKnown || known != p.podOf(n):
			continue
		case o.Gone && !operates(removePod):
			continue
		case o.Ended && m.alive():
			kind.kind = kill
			m.end()
			p.begun[n-1] = plan.Wait
		case o.Deleting && !m.deleting && m.alive() && !operates(deletePod):
			continue
		}
		r.keep(&was, kind, p)
	}
}

// client is what clients are told: nothing that was acknowledged is missing.
func (r *refinement) client(before map[possible]bool, c *trace.Client) {
	r.acked, r.commits = max(r.acked, c.Acknowledged), max(r.commits, c.Begun)
	for p := range before {
		known := bits.OnesCount8(p.acked)
		if m := number(c.Member); m > 0 {
			known = bits.OnesCount8(p.acked & p.at(m).log.set())
			if !p.at(m).complete || c.Reads < r.acked && known == bits.OnesCount8(p.acked) {
				continue
			}
		}
		if known >= c.Acknowledged {
			r.states[p] = true
		}
	}
}

// agent is what an agent observes, and the step that it begins.
func (r *refinement) agent(before map[possible]bool, v plan.View, step plan.Step) error {
	if wanted := plan.NextStep(v); step != wanted {
		return fmt.Errorf("NextStep says %q", wanted)
	}
	n, status := number(v.Name), r.short(v.Status).view()
	if status != (view{}) || seesAnything(before, n) {
		newer := slices.Index(r.written[r.seen[n-1]:], status)
		if newer < 0 {
			return errors.New("no such status was written since that which it has seen last")
		}
		r.seen[n-1] += newer
	}
	for p := range before {
		was, m := p, p.at(n)
		isHolder := p.holder == p.podOf(n)
		freed := p.begun[n-1] == plan.FreeOwnLease && !v.HoldsLease
		holds := isHolder && !p.expired
		if p.podOf(n) == r.pods[v.UID] && m.alive() && (holds || !v.HoldsLease) && (!freed || !isHolder) {
			r.agentIn(was, p, n, status, v, step)
		}
	}
	return nil
}

// seesAnything reports whether an agent has read the status yet, which is live at first.
func seesAnything(states map[possible]bool, n int8) bool {
	for p := range states {
		return p.at(n).seen != view{}
	}
	return false
}

// agentIn is that in one of the states.
func (r *refinement) agentIn(was, p possible, n int8, status view, v plan.View, step plan.Step) {
	m := p.at(n)
	connects := p.begun[n-1] == plan.Follow && m.seen.primary == status.primary && step == plan.Wait // which takes its time
	if m.seen = status; !p.mayReport(n, &v.Report) {
		return
	}
	if (step == plan.Wipe || step == plan.Keep) && p.source(m) != nil && !p.diverged(n) {
		return
	}
	if !connects {
		p.begun[n-1] = step
	}
	r.keep(&was, move{kind: agentSteps, member: n}, p)
}

// mayReport reports whether a member may report this. PostgreSQL may need some time to answer, to receive,
// to fetch a history, or to see that a standby is gone; the model does not.
func (p *possible) mayReport(n int8, got *plan.Report) bool {
	m, want := p.at(n), p.report(n)
	following, synced := number(got.Following), number(got.SyncedWith)
	switch {
	case (got.Data == plan.Complete) != want.complete, got.Running && !want.running, got.Running && got.Writable != want.writable:
		return false
	case !got.Running:
		return !got.Writable || want.writable || p.begun[n-1] == plan.Promote
	case got.Timeline > int32(want.timeline)+1, got.Writable && got.Timeline != int32(want.timeline)+1:
		return false
	case got.Names == "nobody" && want.names != 0, number(got.Names) >= 0 && number(got.Names) != want.names:
		return false
	case following > 0 && following != want.following && p.begun[n-1] != plan.Follow:
		return false
	case synced > 0 && synced != want.syncedWith:
		return synced == want.names && !p.streams(synced, n) && p.at(synced).log.length() >= m.position
	}
	return true
}

// short is a status in small. Joining and Leaving are Running, with more or fewer members than wanted.
func (r *refinement) short(s postgres.PostgresClusterStatus) status {
	if plan.Serving(s.Phase) {
		s.Phase = postgres.Running
	}
	s.PrimaryUID = r.pods[s.PrimaryUID].uid()
	return short(&s)
}
