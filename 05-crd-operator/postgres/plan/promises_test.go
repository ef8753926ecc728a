package plan_test

import (
	"fmt"
	"slices"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// broken is the promise that is broken by a world, or by the move to it.
func broken(before *world, m move, w *world, s *scope) string {
	writable := 0
	for i := range w.members {
		n, now := int8(i+1), &w.members[i]
		if now.writable {
			writable++
		}
		lossy := w.status.phase == promoting && w.lossAllowed(n)
		if w.status.isSynced(n) && now.complete && w.acked&^now.log.set() != 0 && !lossy {
			return names[n] + " is synced and lacks an acknowledged commit"
		}
		if before.at(n).complete && !now.complete && m.kind < kill && !w.spec.deleted && before.status.isSynced(n) && before.at(n).disk == hasDisk {
			return "the data of " + names[n] + ", which is synced, are removed"
		}
		if erased := before.has(n) &^ w.has(n); erased&w.givenUp != 0 && m.kind < kill && !w.spec.deleted && before.at(n).disk == hasDisk {
			return "commits that were given up are erased by " + names[n]
		}
	}
	if p := before.pending; m.kind == act && p.action == removePod && before.podOf(p.member) == p.pod && before.at(p.member).alive() {
		return "the pod of " + names[p.member] + " is removed while it runs"
	}
	switch was := before.leader; {
	case m.kind == commit && before.at(m.member).position == alone && w.acked != before.acked:
		return "a commit is acknowledged that is on one disk"
	case writable > 1 && !s.hole:
		return "two members take writes"
	case w.leader.term == was.term && w.leader.pod != was.pod && was.term != 0:
		return fmt.Sprintf("term %d has two primaries", was.term)
	case w.status.term != 0 && w.status.term == before.status.term && plan.Serving(phases[w.status.phase]) && w.status.synced[0] != w.status.primary:
		return "the primary is not synced"
	case w.status.synced[1] != 0 && w.status.synced[1] != w.status.standby:
		return "a member is synced for which no commit waits"
	case m.kind == act && w.status.phase == promoting && before.status.phase != promoting:
		return unlawful(before, w)
	case m.kind == act && w.status.phase == recovering && before.status.phase != recovering && !w.nothingLeft():
		return "the backup is restored while a disk is left"
	case w.finished && !before.finished && !w.empty():
		return "the cluster ends before its members"
	}
	return ""
}

// has are the commits that a member has, in its database or beside it.
func (w *world) has(n int8) uint8 { return w.at(n).log.set() | w.kept[n-1] }

// unlawful is why a member should not have been named.
func unlawful(before, w *world) string {
	spec, was := before.spec, before.status
	allowed := was.phase == unsafe && spec.leaveMember == w.status.primary && spec.leaveTerm == was.term
	if !was.isSynced(w.status.primary) && !allowed && was.synced[0] != 0 && !before.isSyncedStill(w.status.primary) {
		return names[w.status.primary] + " is named and is not synced"
	}
	return ""
}

// isSyncedStill reports whether a member was synced before the last promotion, and that came to
// nothing.
func (w *world) isSyncedStill(n int8) bool {
	return slices.Contains(w.status.before[:], n) && w.acked&^w.at(n).log.set() == 0
}

func (w *world) empty() bool {
	for i := range w.members {
		if w.members[i].pod || w.members[i].disk == hasDisk {
			return false
		}
	}
	return true
}

// nothingLeft reports whether no member has left a disk, not even one that is being deleted, or a
// pod.
func (w *world) nothingLeft() bool {
	for i := range w.members {
		if m := &w.members[i]; m.pod || m.disk != noDisk {
			return false
		}
	}
	return true
}

// well reports whether the cluster is as it should be: it has its size, all standbys stream, two
// members are synced, the primary is the one that is wanted, and no pod is
// outdated. The pod on the last disk stays if that disk is being deleted: the data end with it.
func (w *world) well() bool {
	if w.spec.deleted {
		return w.finished
	}
	s, size := w.status, int8(0)
	if phases[s.phase] != "Running" || w.podOf(s.primary) != s.primaryPod || !w.at(s.primary).writable {
		return false
	}
	for i := range w.members {
		n, m := int8(i+1), &w.members[i]
		if m.disk == noDisk && !m.pod {
			continue
		}
		size++
		if !m.works() || m.deleting || m.outdated && m.disk == hasDisk || m.disk != hasDisk && w.spec.size > 1 || m.seen != s.view() || n != s.primary && m.following != s.primary {
			return false
		}
	}
	return size == w.spec.size && (size == 1 || s.synced[1] != 0) && (w.spec.primary == 0 || w.spec.primary == s.primary)
}

// lost reports whether no synced member has its data any more, and no backup helps, because
// something else is left.
func (w *world) lost() bool {
	if w.status.phase < running || w.status.phase == recovering || w.spec.backup && w.nothingLeft() {
		return false
	}
	for _, n := range w.status.synced {
		if n != 0 && w.at(n).complete {
			return false
		}
	}
	return true
}
