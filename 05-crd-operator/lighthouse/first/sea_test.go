package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// sea is the objects of a test in memory, for a verdict within seconds, and counts what is written. All that is
// here compiles with the skeleton of the lesson, too, whose Lighthouse hasn't got all fields yet.
type sea struct {
	*testing.T
	client.WithWatch
	logged string // what the last reconcile has logged
	writes int
	unread error // what a read of the Lighthouse ends with, if it isn't nil
	fail   error // what each write ends with, if it isn't nil
}

func newSea(t *testing.T, objects ...client.Object) *sea {
	t.Helper()
	addToScheme(scheme.Scheme)
	s := &sea{T: t}
	kept := fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(&Lighthouse{}, &appsv1.Deployment{}).Build()
	s.WithWatch = interceptor.NewClient(kept, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, isLight := object.(*Lighthouse); isLight && s.unread != nil {
				return s.unread
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return s.write(func() error { return c.Create(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return s.write(func() error { return c.Update(ctx, object, options...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			return s.write(func() error { return c.SubResource(name).Update(ctx, object, options...) })
		},
	})
	return s
}

func (s *sea) write(do func() error) error {
	if s.writes++; s.fail != nil {
		return s.fail
	}
	return do()
}

// light is eddystone, with so many lamps.
func light(lamps int64) *unstructured.Unstructured {
	light := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"lamps": lamps, "flash": "short short"}}}
	light.SetAPIVersion("coast.example.com/v1alpha1")
	light.SetKind("Lighthouse")
	light.SetNamespace("coast")
	light.SetName("eddystone")
	light.SetUID("1")
	light.SetGeneration(4)
	return light
}

// key is that of eddystone.
var key = client.ObjectKey{Namespace: "coast", Name: "eddystone"}

func (s *sea) reconcile() (ctrl.Result, error) {
	s.logged = ""
	log := funcr.New(func(_, args string) { s.logged += args + "\n" }, funcr.Options{})
	return (&reconciler{s}).Reconcile(ctrl.LoggerInto(s.Context(), log), ctrl.Request{NamespacedName: key})
}

func (s *sea) mustReconcile() {
	s.Helper()
	_, err := s.reconcile()
	require.NoError(s, err)
}

func TestItLeavesToOthersWhatIsTheirs(t *testing.T) {
	_, err := newSea(t, light(3)).reconcile()
	require.NoError(t, err, "it refuses to create a Deployment: one that isn't there yet has no UID")

	gone := newSea(t)
	gone.mustReconcile()
	assert.Zero(t, gone.writes)
	going := light(3)
	going.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
	going.SetDeletionTimestamp(new(metav1.Now()))
	dying := newSea(t, going)
	dying.mustReconcile()
	assert.Zero(t, dying.writes, "a Lighthouse that is being deleted gets nothing new: DeletionTimestamp")

	older := light(3)
	older.SetUID("0")
	of := *metav1.NewControllerRef(older, older.GroupVersionKind())
	for whose, owners := range map[string][]metav1.OwnerReference{"nobody's": nil, "an older Lighthouse's": {of}} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "eddystone", UID: "2", OwnerReferences: owners}}
		s := newSea(t, light(3), deployment)
		_, err := s.reconcile()
		require.Error(t, err, "it took a Deployment that is %s: metav1.IsControlledBy compares the UID", whose)
		assert.Zero(t, s.writes, "it wrote to a Deployment that is %s", whose)
		require.EqualError(t, err, "the Deployment eddystone belongs to somebody else", "the lesson looks for these words in the log")
	}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for _, stale := range []error{apierrors.NewAlreadyExists(deployments, "eddystone"), apierrors.NewConflict(deployments, "eddystone", errors.New("it has changed"))} {
		s := newSea(t, light(3))
		s.fail = stale
		result, err := s.reconcile()
		require.NoError(t, err, "a stale cache is no error")
		assert.Equal(t, time.Second, result.RequeueAfter, "it failed (%v), and nobody calls it again: RequeueAfter", stale)
	}
}
