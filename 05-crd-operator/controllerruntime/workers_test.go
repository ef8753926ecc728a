package controllerruntime

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// The quota of harbour is used up, and each of its Ats wants a pod. There are as many as workers.
// The At of coast has nothing to do with that.
func TestTheQuotaOfOneNamespaceDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, bell := at(0, cnat.Running), at(0, cnat.Running), at(0, cnat.Running)
		two.Name, bell.Namespace, bell.Name = "two", "coast", "bell"
		types := runtime.NewScheme()
		require.NoError(t, AddToScheme(types))
		c := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(one).WithObjects(one, two, bell).WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if o.GetNamespace() == one.Namespace {
					return quota
				}
				return c.Create(ctx, o, opts...)
			},
		}).Build()
		start(t, &Reconciler{Client: c, Live: c, Events: events.NewFakeRecorder(10), Clock: clock.RealClock{}, Workers: 2}, one, two, bell)

		synctest.Wait() // all goroutines wait, and no time has gone by
		pod, err := getPod(t.Context(), c, client.ObjectKey{Namespace: "coast", Name: "bell-pod"})
		require.NoError(t, err)
		require.NotNil(t, pod, "the pod of coast/bell is late, because pods of harbour are refused")
		for _, at := range []*cnat.At{one, two} {
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(at), at))
			assert.True(t, meta.IsStatusConditionFalse(at.Status.Conditions, cnat.Scheduled), "%s doesn't say what is in its way", at.Name)
		}
	})
}

// start reconciles Ats with the queue and the workers of the framework, until the test ends.
func start(t *testing.T, r *Reconciler, ats ...*cnat.At) {
	t.Helper()
	operator, err := controller.NewTypedUnmanaged("at", controller.Options{
		Reconciler: r, MaxConcurrentReconciles: r.Workers, Logger: logr.Discard(), SkipNameValidation: new(true),
	})
	require.NoError(t, err)
	require.NoError(t, operator.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		for _, at := range ats {
			queue.Add(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(at)})
		}
		return nil
	})))
	testcluster.Run(t, operator.Start)
}
