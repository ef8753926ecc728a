package plan

import (
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// delete ends all pods before it deletes a disk, so that no PostgreSQL loses its files while it
// runs.
func (o Observed) delete() Decision {
	if o.Cluster.Status.Phase != postgres.Deleting {
		return o.write("Deleting", "pods end, then disks go", func(s *postgres.PostgresClusterStatus) {
			s.Phase, s.Term, s.Primary, s.PrimaryUID = postgres.Deleting, s.Term+1, "", ""
		})
	}
	if d := o.endBackup(); d.Action != None {
		return d
	}
	pods := o.Backup.Pod != nil
	for _, m := range o.Members {
		if m.answers() && m.Report.Writable { // it stops by itself, and archives the last of its log
			pods = true
			continue
		}
		if d := o.removePod(m); d.Action != None {
			return d
		}
		pods = pods || m.Pod != nil
	}
	if pods {
		return Decision{}
	}
	for _, m := range o.Members {
		if d := o.remove(m); d.Action != None {
			return d
		}
	}
	return Decision{Action: RemoveFinalizer}
}

// remove ends a member: first its pod, then its disk.
func (o Observed) remove(m Member) Decision {
	if m.Pod == nil && m.Disk == HasDisk {
		return Decision{Action: DeleteDisk, Member: m.Name}
	}
	return o.removePod(m)
}

func (o Observed) removePod(m Member) Decision {
	switch {
	case m.Pod != nil && m.Pod.Ended:
		return Decision{Action: RemovePod, Member: m.Name, UID: m.Pod.UID}
	case m.alive():
		return o.deletePod(m, "MemberLeaves", m.Name+" leaves")
	}
	return Decision{}
}
