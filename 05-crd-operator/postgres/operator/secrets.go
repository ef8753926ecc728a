package operator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// roles are those of PostgreSQL that log in with a password.
var roles = []string{"app", "postgres", "replication"}

// makeCredentials makes a Secret for each role that has none. Nobody ever changes it or reads its data.
func (r *Reconciler) makeCredentials(ctx context.Context, cluster *postgres.PostgresCluster) error {
	for _, role := range roles {
		name := plan.SecretOf(cluster, role)
		err := r.Create(ctx, &corev1.Secret{
			ObjectMeta: objectMeta(cluster, name),
			Type:       corev1.SecretTypeBasicAuth,
			StringData: map[string]string{corev1.BasicAuthUsernameKey: role, corev1.BasicAuthPasswordKey: rand.Text()},
		})
		if apierrors.IsAlreadyExists(err) {
			err = r.checkStays(ctx, cluster, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkStays returns an error if a Secret is that of the last cluster of this name, and about to be
// collected as garbage. It may be a user's, who has chosen a password.
func (r *Reconciler) checkStays(ctx context.Context, cluster *postgres.PostgresCluster, name string) error {
	secret := secretMetadata(cluster, name)
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return err // it was there, a moment ago
	}
	owner := metav1.GetControllerOf(secret)
	if owner != nil && owner.Kind == "PostgresCluster" && owner.UID != cluster.UID {
		return fmt.Errorf("the Secret %s is that of the last cluster of this name, and the garbage collector has not taken it away yet", name)
	}
	return nil
}

// secretMetadata is to be read in place of a Secret: whose it is, and no data.
func secretMetadata(cluster *postgres.PostgresCluster, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: named(cluster, name)}
}

// The ConfigMap has the CAs that clients trust, and a Secret for each slot has what a member
// shows to them.
const bundleKey = "ca.crt"

func bundleName(cluster *postgres.PostgresCluster) string { return cluster.Name + "-ca" }

func slotName(cluster *postgres.PostgresCluster, slot int) string {
	return fmt.Sprintf("%s-tls-%d", cluster.Name, slot)
}

// minuteLabel is the minute in which such a Secret was made, by the clock of its operator.
const minuteLabel = postgres.GroupName + "/minute"

// certificateNames are all that a client may call the server.
func certificateNames(cluster *postgres.PostgresCluster) (names []string) {
	for _, service := range []string{cluster.Name, cluster.Name + "-ro"} {
		names = append(names, service, service+"."+cluster.Namespace, service+"."+cluster.Namespace+".svc")
	}
	for number := range maxSize {
		names = append(names, plan.MemberName(cluster, number+1))
	}
	return names
}

// readBundle returns the CAs that are in a ConfigMap.
func readBundle(cluster *postgres.PostgresCluster, object client.Object) certificate.Bundle {
	return certificate.Read([]byte(object.(*corev1.ConfigMap).Data[bundleKey]), string(cluster.UID))
}

// sharedBundle is the ConfigMap with the CAs, and one more if there is a new one.
func sharedBundle(cluster *postgres.PostgresCluster, issued certificate.Issued) shared {
	return shared{bundleName(cluster), &corev1.ConfigMap{}, func(o client.Object) {
		bundle := slices.Concat(readBundle(cluster, o).PEM(), issued.CA)
		o.(*corev1.ConfigMap).Data = map[string]string{bundleKey: string(bundle)}
	}}
}

// issueCertificate makes the next certificate, if it is due. The Secret is written first: members
// serve a certificate only if its CA is in the bundle, so that an operator which ends in between
// has changed nothing, and the next one begins again.
func (r *Reconciler) issueCertificate(ctx context.Context, cluster *postgres.PostgresCluster) error {
	now := r.Clock.Now()
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: bundleName(cluster)}
	var bundle certificate.Bundle
	for _, reader := range []client.Reader{r.Client, r.Live} { // the cache may be late
		object := &corev1.ConfigMap{}
		if err := reader.Get(ctx, key, object); client.IgnoreNotFound(err) != nil {
			return err
		}
		if object.UID != "" && !metav1.IsControlledBy(object, cluster) {
			return fmt.Errorf("issuing a certificate: %w", foreignError(kindAndName(object)))
		}
		if bundle = readBundle(cluster, object); !bundle.Due(now) {
			return nil
		}
	}
	issued, err := bundle.Issue(certificateNames(cluster), now)
	if err == nil {
		err = r.fillSlot(ctx, cluster, bundle.Slot(now), issued)
	}
	if err != nil {
		return fmt.Errorf("issuing a certificate: %w", err)
	}
	return errors.Join(r.restore(ctx, cluster, []shared{sharedBundle(cluster, issued)})...)
}

var errSlotTaken = errors.New("another operator has made a Secret of this name a moment ago; in two minutes it is replaced, if that operator has not gone on")

// fillSlot replaces the Secret of a slot, unless it was made in this minute or the last. Of two
// operators that do so at the same time, only one makes it: the other one's certificate would
// have a CA that is in no bundle.
func (r *Reconciler) fillSlot(ctx context.Context, cluster *postgres.PostgresCluster, slot int, issued certificate.Issued) error {
	minute := r.Clock.Now().Unix() / 60
	secret := &corev1.Secret{
		ObjectMeta: objectMeta(cluster, slotName(cluster, slot)),
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{corev1.TLSCertKey: issued.Certificate, corev1.TLSPrivateKeyKey: issued.Key},
	}
	secret.Labels[minuteLabel] = strconv.FormatInt(minute, 10)
	last := secretMetadata(cluster, secret.Name)
	found, err := r.read(ctx, last)
	if err != nil {
		return err
	}
	if found {
		made, _ := strconv.ParseInt(last.Labels[minuteLabel], 10, 64)
		switch {
		case !metav1.IsControlledBy(last, cluster):
			return foreignError(kindAndName(secret))
		case made == minute || made == minute-1:
			return fmt.Errorf("%s: %w", secret.Name, errSlotTaken)
		}
		if err := r.Delete(ctx, last, client.Preconditions{UID: &last.UID}); err != nil {
			return err
		}
	}
	err = r.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%s: %w", secret.Name, errSlotTaken)
	}
	return err
}
