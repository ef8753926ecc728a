// Moorings is an operator that books a berth for each Mooring at the harbour desk: exactly one, whatever goes wrong.
//
//	main.go   the manager, Reconcile, and what a user is shown
//	desk.go   calls to the desk, and when they may be made
//	kind.go   the kind in Go; crd.yaml is the same for the API server
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// finalizer keeps a Mooring until its booking is cancelled.
const finalizer = "harbour.example.com/booking"

func main() {
	ctrl.SetLogger(klog.Background()) // without one, the manager logs nothing
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	seconds, err := strconv.Atoi(os.Getenv("CHECK_SECONDS"))
	if err != nil {
		return fmt.Errorf("reading CHECK_SECONDS: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, // no port; by default it is 8080
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{os.Getenv("WATCH_NAMESPACE"): {}}},
	})
	if err != nil {
		return err
	}
	addToScheme(manager.GetScheme())
	r := &reconciler{
		Client:     manager.GetClient(),
		live:       manager.GetAPIReader(),
		desk:       newDesk(os.Getenv("DESK_URL"), os.Getenv("DESK_TOKEN_FILE")),
		checkEvery: time.Duration(seconds) * time.Second,
	}
	watched := ctrl.NewControllerManagedBy(manager).
		For(&Mooring{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 4, // a call that isn't answered holds up one of them
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](200*time.Millisecond, 2*time.Second),
		})
	if err := watched.Complete(r); err != nil {
		return err
	}
	return manager.Start(ctx)
}

type reconciler struct {
	client.Client               // Get reads from a cache; what writes goes to the server
	live          client.Reader // reads from the server
	desk          *desk
	checkEvery    time.Duration // between two looks at what the desk has
}

// Reconcile makes the booking of one Mooring what its spec says, and reports how it is.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	mooring := &Mooring{}
	if err := r.Get(ctx, request.NamespacedName, mooring); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := mooring.DeepCopyObject().(*Mooring)
	var err error
	if mooring.DeletionTimestamp != nil {
		err = r.cancel(ctx, mooring)
	} else {
		err = r.book(ctx, mooring)
	}
	if !isStale(err) && controllerutil.ContainsFinalizer(mooring, finalizer) {
		if failed := r.report(ctx, before, mooring, err); failed != nil {
			err = fmt.Errorf("writing the status: %w", failed) // a refusal would hide it until the next look
		}
	}
	wait, isBusy := errors.AsType[busy](err)
	_, isRefused := errors.AsType[*refusal](err)
	switch {
	case isBusy:
		return ctrl.Result{RequeueAfter: time.Duration(wait)}, nil
	case isStale(err):
		return ctrl.Result{RequeueAfter: time.Second}, nil // the cache was behind: try again
	case err == nil && mooring.DeletionTimestamp != nil:
		return ctrl.Result{}, nil
	case err == nil, isRefused: // to try again sooner would not help
		return ctrl.Result{RequeueAfter: r.checkEvery}, nil
	}
	return ctrl.Result{}, err
}

// book makes the desk have one booking, which says what the spec says. The finalizer comes first: once there may be
// a booking, the Mooring can't go without it. Then it looks before it books, since an answer may have been lost.
func (r *reconciler) book(ctx context.Context, mooring *Mooring) error {
	if !controllerutil.ContainsFinalizer(mooring, finalizer) {
		if err := r.patch(ctx, mooring, controllerutil.AddFinalizer); err != nil {
			return fmt.Errorf("adding the finalizer: %w", err)
		}
	}
	want := booking{Reference: string(mooring.UID), Ship: mooring.Spec.Ship, Metres: mooring.Spec.Metres}
	found, err := r.desk.find(ctx, want.Reference)
	if err != nil {
		return err
	}
	for len(found) > 1 { // somebody booked it twice
		if err := r.desk.cancel(ctx, found[1].Number); err != nil && !isGone(err) {
			return err
		}
		found = slices.Delete(found, 1, 2)
	}
	var have booking
	switch {
	case len(found) == 0:
		if err = r.confirm(ctx, mooring); err == nil {
			have, err = r.desk.book(ctx, want)
		}
	case found[0].Metres != want.Metres:
		if have, err = r.desk.change(ctx, found[0].Number, want); isGone(err) { // a clerk was faster: look again
			err = errStale
		}
	default:
		have = found[0]
	}
	if err == nil {
		mooring.Status.Number, mooring.Status.Berth = have.Number, have.Berth
	}
	return err
}

// cancel cancels the booking of a Mooring that is being deleted, and lets it go.
func (r *reconciler) cancel(ctx context.Context, mooring *Mooring) error {
	if !controllerutil.ContainsFinalizer(mooring, finalizer) {
		return nil
	}
	found, err := r.desk.find(ctx, string(mooring.UID))
	if err != nil {
		return err
	}
	for _, booked := range found {
		if err := r.desk.cancel(ctx, booked.Number); err != nil && !isGone(err) {
			return err
		}
	}
	return r.patch(ctx, mooring, controllerutil.RemoveFinalizer)
}

// patch changes the finalizers, unless the Mooring has changed.
func (r *reconciler) patch(ctx context.Context, mooring *Mooring, change func(client.Object, string) bool) error {
	changed := mooring.DeepCopyObject().(*Mooring)
	change(changed, finalizer)
	if err := r.Patch(ctx, changed, client.MergeFromWithOptions(mooring, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	*mooring = *changed
	return nil
}

var errStale = errors.New("the cache is stale")

// confirm reads from the server what the cache may not have yet. It comes before what costs money.
func (r *reconciler) confirm(ctx context.Context, mooring *Mooring) error {
	live := &Mooring{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(mooring), live); err != nil {
		return err
	}
	if live.UID != mooring.UID || live.Generation != mooring.Generation { // a deletion is a generation, too
		return errStale
	}
	return nil
}

// isStale reports whether the cache did not have what the server has. It's no error.
func isStale(err error) bool {
	return errors.Is(err, errStale) || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// isGone reports whether the desk no longer has a booking.
func isGone(err error) bool {
	refused, is := errors.AsType[*refusal](err)
	return is && refused.code == http.StatusNotFound
}

// report writes how the Mooring is, unless the status says so already.
func (r *reconciler) report(ctx context.Context, before, mooring *Mooring, err error) error {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, ObservedGeneration: mooring.Generation}
	refused, isRefused := errors.AsType[*refusal](err)
	_, isBusy := errors.AsType[busy](err)
	was := meta.FindStatusCondition(before.Status.Conditions, ready.Type)
	switch {
	case err == nil:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "Booked", "the berth is "+mooring.Status.Berth
	case isRefused && refused.code == http.StatusUnauthorized:
		ready.Reason, ready.Message = "TokenRefused", "the desk refuses the token"
	case isRefused && refused.code/100 == 4:
		ready.Reason, ready.Message = "Refused", cmp.Or(refused.reason, err.Error())
	case mooring.DeletionTimestamp == nil && was != nil && was.Status == metav1.ConditionTrue && was.ObservedGeneration == mooring.Generation:
		return nil // as far as we know, it's still so
	case isRefused, isBusy, errors.Is(err, errNoAnswer):
		ready.Reason, ready.Message = "DeskUnavailable", "the desk doesn't answer as it should"
	default: // such as an error of the API server
		ready.Reason, ready.Message = "Failed", "something other than the desk has failed; the operator's log says what"
	}
	if mooring.DeletionTimestamp != nil {
		ready.Message += "; the booking isn't cancelled yet"
	}
	meta.SetStatusCondition(&mooring.Status.Conditions, ready)
	mooring.Status.ObservedGeneration = mooring.Generation
	if equality.Semantic.DeepEqual(before.Status, mooring.Status) {
		return nil
	}
	return r.Status().Update(ctx, mooring)
}
