package operator

import (
	"context"
	"fmt"
	"reflect"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// A name proves nothing. What the operator changes or deletes it has made itself, for this very
// cluster: the object's controller has the cluster's UID. And the object that it looked at is the
// one that goes: each deletion names the object's own UID, or else the server refuses it.

// foreignError is an object of somebody else that has a name of ours, such as "Service db".
type foreignError string

func (e foreignError) Error() string {
	return fmt.Sprintf("the %s belongs to somebody else; delete it, or give the cluster another name", string(e))
}

// kindAndName names an object for people.
func kindAndName(object client.Object, name string) string {
	return reflect.TypeOf(object).Elem().Name() + " " + name
}

// foreignIn are the objects of somebody else that an error is about.
func foreignIn(err error) (objects []string) {
	switch e := err.(type) { //nolint:errorlint // it looks at what is wrapped, too
	case foreignError:
		return []string{string(e)}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			objects = append(objects, foreignIn(err)...)
		}
	case interface{ Unwrap() error }:
		return foreignIn(e.Unwrap())
	}
	return objects
}

// metadata reads whose an object is, and nothing else of it: of a Secret, no data. It returns nil if
// there is none.
func (r *Reconciler) metadata(ctx context.Context, object client.Object) (*metav1.PartialObjectMetadata, error) {
	kind, err := r.GroupVersionKindFor(object)
	if err != nil {
		return nil, err
	}
	there := &metav1.PartialObjectMetadata{}
	there.SetGroupVersionKind(kind)
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(object), there)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return there, err
}

// createSecret creates a Secret that the operator never changes. One that is there already may be a
// user's, who has chosen a password. One of the last cluster of this name is about to be collected
// as garbage, so it is waited for.
func (r *Reconciler) createSecret(ctx context.Context, cluster *postgres.PostgresCluster, secret *corev1.Secret) error {
	exists := r.Create(ctx, secret)
	if !apierrors.IsAlreadyExists(exists) {
		return exists
	}
	there, err := r.metadata(ctx, secret)
	switch {
	case err != nil:
		return err
	case there == nil:
		return exists // it was, a moment ago
	}
	owner := metav1.GetControllerOf(there)
	if owner != nil && owner.Kind == "PostgresCluster" && owner.UID != cluster.UID {
		return fmt.Errorf("the %s is that of the last cluster of this name, and the garbage collector has not taken it away yet", kindAndName(secret, there.Name))
	}
	return nil
}

// deleteOwn deletes an object if it was made for this cluster. Somebody else's stays.
func (r *Reconciler) deleteOwn(ctx context.Context, cluster *postgres.PostgresCluster, object client.Object) error {
	there, err := r.metadata(ctx, object)
	if err != nil || there == nil || !metav1.IsControlledBy(there, cluster) {
		return err
	}
	return client.IgnoreNotFound(r.Delete(ctx, there, client.Preconditions{UID: &there.UID}))
}

// madeOnce are the objects that are deleted with the cluster, and not a moment later by the garbage
// collector: until then a new cluster of this name would take them for its own.
func madeOnce(cluster *postgres.PostgresCluster) []client.Object {
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name}
	}
	objects := []client.Object{&coordinationv1.Lease{ObjectMeta: named(cluster.Name)}}
	for _, name := range secretNames(cluster) {
		objects = append(objects, &corev1.Secret{ObjectMeta: named(name)})
	}
	return objects
}
