package plan

import "fmt"

// whyNobody is why nobody can be named. As long as there is a disk with every acknowledged commit, it
// says what that one waits for: a person must not be led to lose data that are there.
func (o Observed) whyNobody() string {
	s := o.Cluster.Status
	for _, m := range o.candidates() {
		if emptied := m.answers() && m.Report.Data != Complete; m.Disk == HasDisk && !emptied {
			return fmt.Sprintf("%s has every acknowledged commit, and cannot be the primary yet: %s; nothing is lost: see what keeps it, or delete its PersistentVolumeClaim if that disk will never come back", m.Name, o.whyNot(m))
		}
	}
	return fmt.Sprintf("the disks of all members that had every acknowledged commit are gone: %v; bring one of them back, or set spec.allowDataLoss with term %d", s.Synced, s.Term)
}

// whyNot is what a member with a database waits for before it can be named.
func (o Observed) whyNot(m Member) string {
	switch why := m.ails(); {
	case why != "":
		return why
	case o.Lease.Holder != "":
		return "the Lease of the last primary has not run out"
	}
	return "it has not seen this election yet"
}

// ails is what keeps a member from working, or empty.
func (m Member) ails() string {
	switch {
	case m.Pod == nil:
		return "it has no pod"
	case m.Pod.Ended:
		return "its pod has ended"
	case m.Pod.Deleting:
		return "its pod is being deleted, and its kubelet has not reported the end"
	case !m.Pod.Started:
		return "its pod has not started"
	case !m.answers():
		return "its agent does not answer"
	case m.Report.Trouble != "":
		return m.Report.Trouble
	case m.Report.Data != Complete:
		return "it has no copy of the database yet"
	case !m.Report.Running:
		return "its PostgreSQL does not answer"
	}
	return ""
}
