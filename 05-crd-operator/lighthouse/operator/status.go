package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

// problem is an error that a user is shown.
type problem struct {
	reason, message string
	stalled         bool          // only a person can go on
	minor           bool          // the Lighthouse is as it should be, nevertheless
	again           time.Duration // when to try again; 0 is as the queue does it, or not at all if it's stalled
	err             error         // what was behind it, for the log: it may be another each time
}

func (p *problem) Error() string { return fmt.Sprintf("%s: %s: %v", p.reason, p.message, p.err) }
func (p *problem) Unwrap() error { return p.err }

func stalled(reason, message string) *problem {
	return &problem{reason: reason, message: message, stalled: true, again: checkEvery}
}

// isRefusal reports whether the office has answered with this code.
func isRefusal(err error, code int) bool {
	refused, is := errors.AsType[*refusal](err)
	return is && refused.code == code
}

// explain makes a problem of what a call to the office has come to. An error of the API server stays what it is.
func explain(err error, light *v1alpha1.Lighthouse) error {
	refused, is := errors.AsType[*refusal](err)
	if !is && !errors.Is(err, errNoAnswer) {
		return err
	}
	p := &problem{reason: "OfficeUnavailable", message: "the Light List office doesn't answer as it should"}
	if is {
		switch code := refused.code; {
		case code == http.StatusUnauthorized, code == http.StatusForbidden:
			p = stalled("TokenRefused", "the office refuses the token; put the one that is valid now into the Secret")
		case code == http.StatusNotFound, code == http.StatusConflict:
			return errStale // somebody was faster: look up again
		case code == http.StatusGone:
			p = &problem{reason: "Withdrawn", message: "somebody has withdrawn it a moment ago, and the office remembers that", again: checkEvery}
		case refused.after > 0, code == http.StatusTooManyRequests: // which may come without a time
			p = &problem{reason: "OfficeBusy", message: "the office has too many calls", again: refused.after}
		case code/100 == 4:
			p = stalled("Refused", fmt.Sprintf("%v; correct the spec", refused))
		}
	}
	p.err, p.minor = err, isListed(light)
	return p
}

// report writes how the Lighthouse is, unless the status says so already.
func (r *reconciler) report(ctx context.Context, before, light *v1alpha1.Lighthouse, deployment *appsv1.Deployment, err error) error {
	if light.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(light, finalizer) {
		return err // it is gone
	}
	light.Status.ObservedGeneration = light.Generation
	if deployment != nil {
		light.Status.Burning = deployment.Status.ReadyReplicas
	}
	is, reason, message := summary(light, deployment, err)
	for _, condition := range []string{v1alpha1.Ready, v1alpha1.Reconciling, v1alpha1.Stalled} {
		status := metav1.ConditionFalse
		if condition == is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&light.Status.Conditions, metav1.Condition{
			Type: condition, Status: status, Reason: reason, Message: message, ObservedGeneration: light.Generation,
		})
	}
	if equality.Semantic.DeepEqual(before.Status, light.Status) {
		return err
	}
	if failed := r.Status().Update(ctx, light); failed != nil {
		r.office.forget(client.ObjectKeyFromObject(light).String()) // what it said wasn't written down
		return fmt.Errorf("writing the status: %w", failed)
	}
	return err
}

// summary returns which of the conditions is True, and why. Of several reasons it's the first.
func summary(light *v1alpha1.Lighthouse, deployment *appsv1.Deployment, err error) (is, reason, message string) {
	var trouble *problem
	gone := light.DeletionTimestamp != nil
	switch {
	case errors.As(err, &trouble) && (gone || !trouble.minor):
		is, message = v1alpha1.Reconciling, trouble.message
		if trouble.stalled {
			is = v1alpha1.Stalled
		}
		if gone {
			message += fmt.Sprintf("; to delete it although it stays in the Light List, annotate it with %s", abandon)
		}
		return is, trouble.reason, message
	case err != nil && trouble == nil:
		return v1alpha1.Reconciling, "Failed", err.Error()
	case gone:
		return v1alpha1.Reconciling, "Withdrawing", "the office takes it out of the Light List"
	case !isListed(light):
		return v1alpha1.Reconciling, "Registering", "the office puts it into the Light List"
	}
	lamps, have := light.Spec.Lamps, deployment.Status
	is, reason, message = v1alpha1.Reconciling, "Lighting", fmt.Sprintf("%d of %d lamps burn", have.ReadyReplicas, lamps)
	seen := have.ObservedGeneration == deployment.Generation // or the numbers are those of an older spec
	if seen && have.Replicas == lamps && have.UpdatedReplicas == lamps && have.ReadyReplicas == lamps {
		is, reason = v1alpha1.Ready, "Burning"
	}
	if trouble != nil {
		message += "; whether the Light List still says the same isn't known: " + trouble.message
	}
	return is, reason, message
}
