package plan

import (
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// Step is what a member does next.
type Step string

// The steps.
const (
	Wait          Step = ""
	InitDB        Step = "InitDB"        // make a database, and its roles
	Restore       Step = "Restore"       // make it of the backup in Status.Restore
	Clone         Step = "Clone"         // copy that of the pod in Status.PrimaryUID, while it takes writes
	Wipe          Step = "Wipe"          // remove what has diverged
	Keep          Step = "Keep"          // or keep it beside, if a person gave it up
	Start         Step = "Start"         // PostgreSQL, always read-only, receiving from nobody
	Follow        Step = "Follow"        // receive from the primary
	TakeLease     Step = "TakeLease"     // if nobody else holds it, be it expired or not
	FreeOwnLease  Step = "FreeOwnLease"  //
	SetNames      Step = "SetNames"      // whom commits wait for
	Promote       Step = "Promote"       // take writes
	StopFast      Step = "StopFast"      // cleanly; clients that wait for a commit get no answer
	StopImmediate Step = "StopImmediate" // without a checkpoint: the Lease has run out, or it is frozen
)

// NextStep decides what a member does next.
func NextStep(v View) Step {
	s, r := v.Status, v.Report
	named := s.PrimaryUID == v.UID
	switch {
	case r.Writable && !v.HoldsLease:
		return StopImmediate
	case !named && r.frozen() > unreachableAfter:
		return StopImmediate
	case r.Writable && !named:
		return StopFast
	case v.HoldsLease && !named:
		return FreeOwnLease
	case s.Phase == postgres.Deleting:
		return Wait
	case r.Data != Complete:
		return v.fill()
	case !r.Running:
		return Start
	case named:
		return v.lead()
	case Serving(s.Phase):
		return v.follow()
	}
	return Wait
}

// fill puts a database on an empty disk.
func (v View) fill() Step {
	switch first := v.Status.Primary == v.Name; {
	case Making(v.Status.Phase) && first && v.Status.Restore != nil:
		return Restore
	case Making(v.Status.Phase) && first:
		return InitDB
	case Serving(v.Status.Phase) && !first:
		return Clone
	}
	return Wait
}

// lead becomes the primary, and is it. The names are set before the first write, so none is
// acknowledged by one disk. Who was promoted in this term and has stopped since is not promoted in
// it again: that would be another timeline, and a term has one. The operator begins another term.
func (v View) lead() Step {
	switch {
	case !v.Report.Writable && v.Report.Timeline >= TimelineOf(v.Status.Term):
		return Wait
	case !v.HoldsLease:
		return TakeLease
	case v.Report.Names != v.Status.Standby:
		return SetNames
	case !v.Report.Writable:
		return Promote
	}
	return Wait
}

// follow receives from the primary.
func (v View) follow() Step {
	_, givenUp := GivenUp(v.Status, v.Name, v.Report.Kept)
	switch {
	case v.Diverged && givenUp:
		return Keep
	case v.Diverged:
		return Wipe
	case v.Report.Following != v.Status.Primary:
		return Follow
	}
	return Wait
}
