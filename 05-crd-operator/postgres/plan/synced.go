package plan

import "slices"

// synced are the members that have every acknowledged commit. During an election that is the member
// that was named last, alone: it may have taken writes. If it says that it was never promoted, then it
// has acknowledged nothing, and all who were synced before it was named still are.
func (o Observed) synced() []string {
	s := o.Cluster.Status
	if len(s.SyncedBefore) == 0 || !o.neverPromoted(s.Synced[0]) {
		return s.Synced
	}
	others := slices.DeleteFunc(slices.Clone(s.SyncedBefore), func(name string) bool { return name == s.Synced[0] })
	return append(slices.Clone(s.Synced), others...)
}

// neverPromoted reports whether the member that was named in the last term shows by its disk that no
// timeline of that term has begun. It knows of this term, so none will begin any more.
func (o Observed) neverPromoted(name string) bool {
	m, s := o.member(name), o.Cluster.Status
	return m.hasData() && m.Report.Term == s.Term && !m.Report.Writable && m.Report.Timeline < TimelineOf(s.Term-1)
}

// hasFailed reports whether a member was named last, and has not become the primary.
func (o Observed) hasFailed(m Member) bool {
	s := o.Cluster.Status
	return len(s.SyncedBefore) > 0 && m.Name == s.Synced[0]
}
