package plan

import (
	"fmt"
	"slices"
	"strings"
)

// update replaces the pods that differ from what the operator would make now, one at a time: the
// standbys first, of these the one that commits wait for last, and then the primary. Each waits
// until the cluster is settled, so an image that does not work ends with the first member that
// has it.
func (o Observed) update() Decision {
	s := o.Cluster.Status
	primary, standby := o.member(s.Primary), o.member(s.Standby)
	if s.Version != o.Version || !o.settled() {
		return Decision{}
	}
	for _, m := range o.Members {
		if m.outdated() && m.Name != primary.Name && m.Name != standby.Name {
			return o.replace(m)
		}
	}
	switch {
	case standby.outdated(): // there is no other, so commits wait until it is back
		return o.replace(standby)
	case !primary.outdated():
		return Decision{}
	case o.Cluster.Spec.Size == 1: // nobody takes over, so no writes until it is back
		return o.replace(primary)
	}
	d := o.beginElection(fmt.Sprintf("a switchover to %s, because %s is outdated", standby.Name, primary.Name))
	d.Updates = primary.Name
	return d
}

// replace ends a pod, so that repair makes it again on its disk.
func (o Observed) replace(m Member) Decision {
	d := o.deletePod(m, "MemberOutdated", m.Name+" is outdated; its pod is replaced")
	d.Updates = m.Name
	return d
}

// settled reports whether the cluster has all its members, every standby follows and streams, and
// each commit is on two disks if there are two.
func (o Observed) settled() bool {
	s, size := o.Cluster.Status, int(o.Cluster.Spec.Size)
	primary := o.member(s.Primary)
	if !o.leads(primary) || len(o.Members) != size || len(s.Synced) != min(2, size) {
		return false
	}
	return !slices.ContainsFunc(o.Members, func(m Member) bool {
		return m.Disk != HasDisk || m.Name != s.Primary && !o.streams(m)
	})
}

// outdated and upToDate report whether a pod that is to go on differs from what would be made now.
func (m Member) outdated() bool { return m.alive() && m.Pod.Outdated }
func (m Member) upToDate() bool { return m.alive() && !m.Pod.Outdated }

// foreign reports whether the image has another major version than the database. Then no member
// is made of it: PostgreSQL reads the files of its own major version only.
func (o Observed) foreign() bool {
	made := o.Cluster.Status.Version
	return made != "" && made != o.Version
}

// Major is the major version in one such as 17.6.
func Major(version string) string {
	return version[:len(version)-len(strings.TrimLeft(version, "0123456789"))]
}

// rank is higher for what has the first of the advantages, and among equals for what has the
// second, and so on.
func rank(advantages ...bool) (n int) {
	for _, has := range advantages {
		n *= 2
		if has {
			n++
		}
	}
	return n
}
