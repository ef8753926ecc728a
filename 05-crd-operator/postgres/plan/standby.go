package plan

import (
	"cmp"
	"fmt"
	"slices"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// setStandby chooses the standby that has to have each commit, and publishes it as synced as
// soon as it has all that were acknowledged without it. A choice waits until the last one is in
// force: a primary that were two choices behind could return to the first one, after a report
// about it was taken for one about the last.
func (o Observed) setStandby() Decision {
	s, primary := o.Cluster.Status, o.member(o.Cluster.Status.Primary)
	if !o.leads(primary) || primary.Report.Names != s.Standby {
		return Decision{}
	}
	standby := o.chooseStandby(primary.Report)
	switch {
	case standby != s.Standby:
		return o.write("StandbyChosen", fmt.Sprintf("commits wait for %q", standby), func(s *postgres.PostgresClusterStatus) {
			s.Standby, s.Synced = standby, []string{s.Primary}
		})
	case primary.Report.SyncedWith == standby && o.stands(standby) && !slices.Contains(s.Synced, standby):
		return o.write("StandbySynced", standby+" has every acknowledged commit", func(s *postgres.PostgresClusterStatus) {
			s.Synced = []string{s.Primary, standby}
		})
	}
	return Decision{}
}

// chooseStandby keeps the present one for as long as no other is better: a standby that was
// named is replaced by another that streams, and never by none, unless one member is enough. One
// that is up to date is better, because it will stay and can take over.
func (o Observed) chooseStandby(primary *Report) string {
	present := o.Cluster.Status.Standby
	if o.Cluster.Spec.Size == 1 {
		return ""
	}
	able := func(m Member) bool { return m.Disk == HasDisk && slices.Contains(primary.Streaming, m.Name) }
	worth := func(m Member) int {
		return rank(able(m), m.upToDate(), m.Name == o.Cluster.Spec.Primary, m.Name == present)
	}
	best := slices.MaxFunc(o.Members, func(a, b Member) int { return worth(a) - worth(b) })
	if !able(best) {
		return present
	}
	return best.Name
}

// stands reports whether a member follows the primary and knows of this term. One that does not
// know of it may stream all the same, because the primary was the primary in another term, and
// may turn to a member that has commits which this one has not.
func (o Observed) stands(name string) bool {
	m, s := o.member(name), o.Cluster.Status
	return m.Disk == HasDisk && m.hasData() && m.Report.Term == s.Term && m.Report.Following == s.Primary
}

// unpublish takes a standby from the synced ones whose data are lost, or will be with the end of
// its pod, or that was passed over.
func (o Observed) unpublish() Decision {
	s := o.Cluster.Status
	m, primary := o.member(s.Standby), o.member(s.Primary)
	gone := m.Disk != HasDisk || m.answers() && m.Report.Data != Complete
	passedOver := o.leads(primary) && primary.Report.Alone
	alone := func(s *postgres.PostgresClusterStatus) { s.Synced = []string{s.Primary} }
	switch {
	case !slices.Contains(s.Synced, s.Standby):
		return Decision{}
	case gone:
		return o.write("StandbyLost", s.Standby+" has lost its data", alone)
	case passedOver:
		d := o.write("StandbyPassedOver", fmt.Sprintf("%s may lack commits that %s has acknowledged alone", s.Standby, s.Primary), alone)
		d.Warning = true
		return d
	}
	return Decision{}
}

// nextStandby is the standby of the next primary. A member that has its data is better than one
// that has not, and the last primary is the worst of them: its log has to be discarded if it is
// longer. If there is no other member, it is the one that will be made. A cluster whose commits
// waited for nobody goes on like that until a standby streams.
func (o Observed) nextStandby(primary string) string {
	s := o.Cluster.Status
	if o.Cluster.Spec.Size == 1 || s.Standby == "" {
		return ""
	}
	worth := func(m Member) int {
		switch {
		case !m.hasData():
			return 0
		case slices.Index(s.Synced, m.Name) == 0:
			return 1
		case m.Name != s.Standby:
			return 2
		}
		return 3
	}
	others := slices.DeleteFunc(slices.Clone(o.Members), func(m Member) bool { return m.Name == primary })
	switch {
	case len(others) > 0:
		return slices.MaxFunc(others, func(a, b Member) int { return cmp.Compare(worth(a), worth(b)) }).Name
	case primary != MemberName(o.Cluster, 1):
		return MemberName(o.Cluster, 1)
	}
	return MemberName(o.Cluster, 2)
}
