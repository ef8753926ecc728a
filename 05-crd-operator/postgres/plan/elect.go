package plan

import (
	"fmt"
	"slices"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// beginElection ends a term. Who is synced stays: the election is among them.
func (o Observed) beginElection(why string) Decision {
	return o.write("Electing", fmt.Sprintf("%s: %s", o.Cluster.Status.Primary, why), func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary, s.PrimaryUID = postgres.Electing, s.Term+1, "", ""
	})
}

// elect makes sure that the last primary is none any more, then chooses the next one, and
// brings members back in any case.
func (o Observed) elect() Decision {
	return first(o.freeLease, o.killHolder, o.choose, o.recover, o.repair)
}

// freeLease frees the Lease of a pod that has ended. Without that proof it has to run out. Nobody
// but the operator measures that.
func (o Observed) freeLease() Decision {
	holder, found := o.holder()
	if ended := found && holder.Pod.Ended; o.Lease.Holder == "" || !ended && !o.Lease.Expired {
		return Decision{}
	}
	return Decision{Action: FreeLease, Member: holder.Name, UID: o.Lease.Holder}
}

// killHolder deletes the pod of a last primary that does not answer: it may be frozen, and
// then it cannot stop by itself. One that answers stops without help, and that is faster.
func (o Observed) killHolder() Decision {
	holder, found := o.holder()
	if !found || !holder.alive() || holder.Silent <= lostAfter {
		return Decision{}
	}
	return o.deletePod(holder, "Fencing", holder.Name+" does not answer; its pod is deleted")
}

// choose names the next primary, once the Lease of the last one is free. It has every
// acknowledged commit, or a person has allowed that some are lost. A better candidate that
// answers gets some time to learn of the election.
func (o Observed) choose() Decision {
	s, leave := o.Cluster.Status, o.Cluster.Spec.AllowDataLoss
	if o.Lease.Holder != "" {
		return Decision{}
	}
	for _, m := range o.candidates() {
		switch {
		case o.eligible(m):
			return o.promote(m, "Promoting", m.Name+" becomes the primary")
		case m.hasData() && o.Leaderless <= lostAfter:
			return Decision{}
		}
	}
	switch {
	case s.Phase != postgres.Unsafe && o.Leaderless > unsafeAfter:
		return o.write("Unsafe", o.whyNobody(), func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Unsafe })
	case s.Phase == postgres.Unsafe && leave != nil && leave.Term == s.Term && o.eligible(o.member(leave.Member)):
		d := backUpAnew(o.promote(o.member(leave.Member), "DataLossAllowed", o.loss(leave.Member)))
		o.giveUp(d.Status, leave.Member)
		return d
	}
	return Decision{}
}

// candidates are the members with every acknowledged commit: the wish, the standby, and then
// the last primary, which is the first of the synced ones. One whose disk is to stay comes first,
// then one that has not just failed to become the primary, and then one whose pod is up to date.
func (o Observed) candidates() []Member {
	var members []Member
	for _, name := range slices.Backward(o.synced()) {
		members = append(members, o.member(name))
	}
	worth := func(m Member) int {
		return rank(m.Disk == HasDisk, !o.hasFailed(m), m.upToDate(), m.Name == o.Cluster.Spec.Primary)
	}
	slices.SortStableFunc(members, func(a, b Member) int { return worth(b) - worth(a) })
	return members
}

// eligible reports whether a member can be promoted: it is there, its data are whole, it knows
// of this term, and it has stopped if it was the last primary.
func (o Observed) eligible(m Member) bool {
	return m.hasData() && m.Report.Running && !m.Report.Writable && m.Report.Term == o.Cluster.Status.Term
}

// loss says what is lost with a promotion, as far as it is known.
func (o Observed) loss(member string) string {
	has := o.member(member).Report.Received
	for _, name := range o.Cluster.Status.Synced {
		if last := o.member(name).Last; last != nil && last.Received > has {
			return fmt.Sprintf("%s has the log up to %s, and %s was last seen at %s: what lies between is lost", member, has, name, last.Received)
		}
	}
	return fmt.Sprintf("%s has the log up to %s; what was acknowledged after that is lost", member, has)
}

// promote names the primary of this term. It alone is synced: as soon as it takes writes, no
// other disk has them all. No timeline that a member knows may be one of this term or a later one, as
// that of a database may be that was restored: then this term gets a higher number.
func (o Observed) promote(m Member, reason, note string) Decision {
	return o.write(reason, note, func(s *postgres.PostgresClusterStatus) {
		s.Term = max(s.Term, int64(o.newestTimeline()))
		s.Standby = o.nextStandby(m.Name)
		s.Phase, s.Primary, s.PrimaryUID, s.Synced, s.SyncedBefore = postgres.Promoting, m.Name, m.Pod.UID, []string{m.Name}, nil
		if synced := o.synced(); slices.Contains(synced, m.Name) {
			s.SyncedBefore = synced
		}
	})
}

// await waits until the member that is named takes writes.
func (o Observed) await() Decision {
	s := o.Cluster.Status
	m := o.member(s.Primary)
	switch {
	case !m.alive() || m.Pod.UID != s.PrimaryUID:
		return o.beginElection("it was lost before it took writes")
	case m.answers() && m.Report.Running && !m.Report.Writable && m.Report.Timeline >= TimelineOf(s.Term):
		return o.beginElection("it was promoted and has stopped")
	case o.leads(m):
		return o.write("Promoted", fmt.Sprintf("%s takes writes in term %d", m.Name, s.Term), func(s *postgres.PostgresClusterStatus) { s.Phase, s.SyncedBefore = postgres.Running, nil })
	}
	return first(o.freeLease, o.repair)
}
