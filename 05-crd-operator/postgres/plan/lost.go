package plan

import (
	"cmp"
	"fmt"
	"slices"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// A person who allows data loss allows a promotion, and no more: what another member still has on
// its disk is the last copy of commits that a client was told are safe. So status.lost lists the
// members that may have such commits. One that comes back keeps its database in a folder beside the
// new one. Other databases that have diverged are wiped: nearly every crash leaves a little log
// that nobody acknowledged.

// KeptPrefix is how the names of folders begin in which members keep what was given up.
const KeptPrefix = "database.diverged-term-"

// KeptFolder is where a member keeps the database that was given up in a term.
func KeptFolder(term int64) string { return fmt.Sprint(KeptPrefix, term) }

// GivenUp returns the term in which a person gave up what is in the member's database, if one did.
// What it cloned after it had kept that was never given up.
func GivenUp(s postgres.PostgresClusterStatus, member string, kept []string) (term int64, is bool) {
	i := slices.IndexFunc(s.Lost, func(l postgres.LostData) bool {
		return l.Member == member && l.Folder == "" && !slices.Contains(kept, KeptFolder(l.Term))
	})
	if i < 0 {
		return 0, false
	}
	return s.Lost[i].Term, true
}

// giveUp lists all members but the next primary: not only those that were synced, for another one
// may have received more than the member that a person has chosen.
func (o Observed) giveUp(s *postgres.PostgresClusterStatus, primary string) {
	s.Lost = slices.DeleteFunc(s.Lost, func(l postgres.LostData) bool { return l.Member == primary && o.stillHas(l) })
	others := slices.Clone(o.Cluster.Status.Synced)
	for _, m := range o.Members {
		others = append(others, m.Name)
	}
	slices.Sort(others)
	for _, name := range slices.Compact(others) {
		listed := slices.ContainsFunc(s.Lost, func(l postgres.LostData) bool { return l.Member == name && o.stillHas(l) })
		if name != primary && !listed {
			s.Lost = append(s.Lost, postgres.LostData{Member: name, Term: o.Cluster.Status.Term})
		}
	}
}

// stillHas reports whether a member may have what was given up as its database. What it has beside one that it
// has kept, it cloned later.
func (o Observed) stillHas(l postgres.LostData) bool {
	m := o.member(l.Member)
	r := cmp.Or(m.Report, m.Last)
	return l.Folder == "" && (r == nil || !slices.Contains(r.Kept, KeptFolder(l.Term)))
}

// updateLost publishes what members have kept, and forgets what needs no care any more: a member
// that receives from the primary has nothing that the primary lacks, and a folder that is gone was
// removed by a person.
func (o Observed) updateLost() Decision {
	for i, l := range o.Cluster.Status.Lost {
		m, folder := o.member(l.Member), KeptFolder(l.Term)
		kept := m.answers() && slices.Contains(m.Report.Kept, folder)
		switch {
		case l.Folder == "" && kept:
			d := o.write("DataKept", fmt.Sprintf("%s keeps the database that was given up in term %d in the folder %s of its disk: it may have the last copy of acknowledged commits. Read it; then delete the PersistentVolumeClaim %s, and the member is made again", l.Member, l.Term, folder, l.Member),
				func(s *postgres.PostgresClusterStatus) { s.Lost[i].Folder = folder })
			d.Warning = true
			return d
		case l.Folder != "" && !kept && (m.answers() || m.Disk == NoDisk):
			return o.write("KeptDataRemoved", fmt.Sprintf("%s does not have the folder %s any more", l.Member, folder), forget(i))
		case l.Folder == "" && (o.leads(m) || o.streams(m)):
			return o.write("", "", forget(i))
		}
	}
	return Decision{}
}

// streams reports whether a member receives from the primary, as both say.
func (o Observed) streams(m Member) bool {
	primary := o.member(o.Cluster.Status.Primary)
	return o.leads(primary) && o.stands(m.Name) && slices.Contains(primary.Report.Streaming, m.Name)
}

func forget(i int) func(*postgres.PostgresClusterStatus) {
	return func(s *postgres.PostgresClusterStatus) { s.Lost = slices.Delete(s.Lost, i, i+1) }
}

// keeps reports whether the disk of a member may have the last copy of acknowledged commits. Then
// only a person may delete it.
func (o Observed) keeps(m Member) bool {
	return m.Disk == HasDisk && slices.ContainsFunc(o.Cluster.Status.Lost, func(l postgres.LostData) bool { return l.Member == m.Name })
}

// stays is why a cluster does not shrink to its size.
func (o Observed) stays() string {
	if len(o.Members) <= int(o.Cluster.Spec.Size) || o.leaver() != "" || !Serving(o.Cluster.Status.Phase) {
		return ""
	}
	i := slices.IndexFunc(o.Members, o.keeps)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("the disk of %s may have the last copy of acknowledged commits (status.lost), so it does not leave; read it, then delete the PersistentVolumeClaim %[1]s", o.Members[i].Name)
}
