package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

const (
	// finalizer keeps a Lighthouse until its registration is withdrawn.
	finalizer = "coast.example.com/light-list"
	// abandon is the annotation of a Lighthouse that may go although its registration stays. It's the
	// way out when the office is gone for good. There is no time-out: an office that is down for a
	// week still sends its bill afterwards, and only a person knows which of the two it is.
	abandon = "coast.example.com/abandon-registration"
	// checkEvery is how often the operator looks whether the Light List still says the same. With its
	// turn at the office, that is within a minute, for up to a hundred Lighthouses.
	checkEvery = 50 * time.Second

	secretIndex = "spec.secretRef.name"
	tokenKey    = "token"
)

var errStale = errors.New("the cache is stale")

// token is the name of the registration at the office. It's the same whatever dies, as nothing has to
// be remembered, and another for a new Lighthouse of the same name.
func token(light *v1alpha1.Lighthouse) string { return string(light.UID) }

// register makes the Light List say what the spec says, and returns when to look again. The
// finalizer comes before the first call: once a registration may exist, the Lighthouse can't go without
// it. Then it looks up before it registers, as an answer may have been lost long ago.
func (r *reconciler) register(ctx context.Context, light *v1alpha1.Lighthouse) (time.Duration, error) {
	if light.Spec.Position == "" {
		return 0, nil
	}
	bearer, err := r.bearer(ctx, light)
	if err != nil {
		return 0, err // without a token it was never registered, and may go
	}
	if !controllerutil.ContainsFinalizer(light, finalizer) {
		if err := r.patch(ctx, light, controllerutil.AddFinalizer); err != nil {
			return 0, fmt.Errorf("adding the finalizer: %w", err)
		}
	}
	key := client.ObjectKeyFromObject(light).String()
	want := listing{Token: token(light), Listing: wantListing(light)}
	if wait := r.office.wait(key, fmt.Sprint(want, bearer)); wait > 0 {
		return wait, nil
	}
	got, err := r.office.lookUp(ctx, bearer, want.Token)
	switch {
	case isRefusal(err, http.StatusNotFound):
		if err = r.confirm(ctx, light); err == nil {
			got, err = r.office.register(ctx, bearer, want)
		}
	case err == nil && got.Listing != want.Listing:
		ctrl.LoggerFrom(ctx).Info("the Light List says something else", "says", got.Listing)
		if err = r.confirm(ctx, light); err == nil {
			got, err = r.office.change(ctx, bearer, want)
		}
	}
	if err != nil {
		return 0, explain(err, light)
	}
	light.Status.Number, light.Status.Listed = got.Number, &got.Listing
	again := checkEvery
	if got.Number == "" {
		again = max(got.after, time.Second) // the office works on it, and has said for how long
	}
	r.office.next(key, again)
	return again, nil
}

// withdraw ends the registration of a Lighthouse that is being deleted, and lets it go. Whether there
// is one doesn't matter: the office uses up the token, too, so that one that is on its way comes too late.
func (r *reconciler) withdraw(ctx context.Context, light *v1alpha1.Lighthouse) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(light, finalizer) {
		return 0, nil
	}
	key := client.ObjectKeyFromObject(light).String()
	if _, abandoned := light.Annotations[abandon]; !abandoned {
		bearer, err := r.bearer(ctx, light)
		if err != nil {
			return 0, err
		}
		if wait := r.office.wait(key, "withdraw "+bearer); wait > 0 {
			return wait, nil
		}
		if err := r.office.withdraw(ctx, bearer, token(light)); err != nil && !isRefusal(err, http.StatusNotFound) {
			return 0, explain(err, light)
		}
	}
	r.office.forget(key)
	return 0, r.patch(ctx, light, controllerutil.RemoveFinalizer)
}

// patch changes the finalizers, unless the Lighthouse has changed. It sends nothing else: an update
// would also write what this version of the type doesn't know, as empty.
func (r *reconciler) patch(ctx context.Context, light *v1alpha1.Lighthouse, change func(client.Object, string) bool) error {
	from := client.MergeFromWithOptions(light.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change(light, finalizer)
	return r.Patch(ctx, light, from)
}

// confirm reads from the server what the cache may not have yet. It comes before a call that costs
// something: a Lighthouse that is gone would be registered for nobody.
func (r *reconciler) confirm(ctx context.Context, light *v1alpha1.Lighthouse) error {
	live := &v1alpha1.Lighthouse{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(light), live)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	// A deletion counts as a generation.
	if err != nil || live.UID != light.UID || live.Generation != light.Generation || !controllerutil.ContainsFinalizer(live, finalizer) {
		return errStale
	}
	return nil
}

func wantListing(light *v1alpha1.Lighthouse) v1alpha1.Listing {
	return v1alpha1.Listing{Position: light.Spec.Position, Character: light.Spec.Flash}
}

// isListed reports whether the Light List has the Lighthouse as it should be, or it needn't.
func isListed(light *v1alpha1.Lighthouse) bool {
	listed := light.Status.Listed
	return light.Spec.Position == "" || light.Status.Number != "" && listed != nil && *listed == wantListing(light)
}

// bearer returns the token of the Secret that the Lighthouse refers to.
func (r *reconciler) bearer(ctx context.Context, light *v1alpha1.Lighthouse) (string, error) {
	ref := light.Spec.SecretRef
	if ref == nil {
		return "", errors.New("spec.secretRef is missing")
	}
	secret := &corev1.Secret{}
	err := r.Get(ctx, client.ObjectKey{Namespace: light.Namespace, Name: ref.Name}, secret)
	if err == nil && len(secret.Data[tokenKey]) > 0 {
		return strings.TrimSpace(string(secret.Data[tokenKey])), nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	// No polling: the watch brings the Lighthouse back.
	return "", &problem{reason: "NoToken", message: fmt.Sprintf("create the Secret %s with the key %s", ref.Name, tokenKey), stalled: true, minor: isListed(light)}
}

// secretOf is for the index that finds the Lighthouses of a Secret.
func secretOf(object client.Object) []string {
	if ref := object.(*v1alpha1.Lighthouse).Spec.SecretRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}

// referrers returns the keys of the Lighthouses that refer to a Secret.
func (r *reconciler) referrers(ctx context.Context, secret client.Object) (requests []ctrl.Request) {
	var lights v1alpha1.LighthouseList
	if err := r.List(ctx, &lights, client.InNamespace(secret.GetNamespace()), client.MatchingFields{secretIndex: secret.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "finding the Lighthouses of a Secret", "secret", secret.GetName())
	}
	for i := range lights.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&lights.Items[i])})
	}
	return requests
}

// onlyToken is what the cache keeps of a Secret: most of them are none of our business.
func onlyToken(object any) (any, error) {
	if secret, ok := object.(*corev1.Secret); ok {
		kept := secret.DeepCopy()
		kept.ManagedFields, kept.Annotations, kept.Data = nil, nil, nil
		if bearer, ok := secret.Data[tokenKey]; ok {
			kept.Data = map[string][]byte{tokenKey: bearer}
		}
		return kept, nil
	}
	return object, nil
}
