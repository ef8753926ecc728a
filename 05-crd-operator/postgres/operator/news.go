package operator

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// news is what people have to be warned of when a status changes, each once: a spec that cannot
// be had, commits that are acknowledged on one disk, members that no new client reaches, and
// those that have no copy of the database. The status goes on to say it; an event says when it
// began.
func news(before, now postgres.PostgresClusterStatus) (warnings []plan.Decision) {
	warn := func(action plan.Action, reason, note string) {
		warnings = append(warnings, plan.Decision{Action: action, Reason: reason, Note: note, Warning: true})
	}
	if c := changed(before, now, postgres.Accepted); c != nil && c.Status == metav1.ConditionFalse {
		warn("Accept", c.Reason, c.Message)
	}
	if c := changed(before, now, postgres.Redundant); c != nil && c.Reason == plan.AsynchronousCommits {
		warn(plan.WriteStatus, c.Reason, c.Message)
	}
	for _, sentence := range plan.NewlyUnreachable(before, now) {
		warn("Observe", "Unreachable", sentence)
	}
	for _, m := range now.Members {
		// The reason may be another one each time.
		known := slices.ContainsFunc(before.Members, func(was postgres.MemberStatus) bool { return was.Name == m.Name && was.Trouble != "" })
		if m.Trouble != "" && !known {
			warn(plan.WriteStatus, "CopyFailed", m.Name+" has no copy of the database: "+m.Trouble)
		}
	}
	return warnings
}

// changed returns the condition if it says something new.
func changed(before, now postgres.PostgresClusterStatus, kind string) *metav1.Condition {
	was, is := meta.FindStatusCondition(before.Conditions, kind), meta.FindStatusCondition(now.Conditions, kind)
	if is == nil || was != nil && was.Message == is.Message {
		return nil
	}
	return is
}
