package operator

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// record tells people what was done.
func (r *Reconciler) record(o observation, d plan.Decision) {
	if d.Reason != "" {
		kind := corev1.EventTypeNormal
		if d.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(o.Cluster, nil, kind, d.Reason, string(d.Action), "%.1000s", d.Note)
	}
}

// warn tells people what could not be done, and is tried again. A conflict is none of their business:
// something has changed since it was observed.
func (r *Reconciler) warn(ctx context.Context, o observation, action plan.Action, err error) {
	if err != nil && !apierrors.IsConflict(err) {
		log.FromContext(ctx).Error(err, "trying again", "action", action)
		r.Events.Eventf(o.Cluster, nil, corev1.EventTypeWarning, "Failed", string(action), "%.1000s", err)
	}
}

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
		known := slices.ContainsFunc(before.Members, func(was postgres.MemberStatus) bool { return was.Name == m.Name && plan.LacksCopy(was) })
		if plan.LacksCopy(m) && !known {
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
