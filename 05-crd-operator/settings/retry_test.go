package settings

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// A conflict may not be over by the next try, nor by any. So the pause is that of the
// rate limiter, which grows: Reconcile returns the error.
func TestAConflictIsLeftToTheRateLimiter(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("any"), "any", nil)
	for name, refuse := range map[string]interceptor.Funcs{
		"of the ConfigMap": {Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return conflict
		}},
		"of a status": {SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return conflict
		}},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			require.NoError(t, AddToScheme(scheme))
			layer := defaults()
			r := &Reconciler{
				Client:   fake.NewClientBuilder().WithScheme(scheme).WithObjects(layer).WithStatusSubresource(layer).WithInterceptorFuncs(refuse).Build(),
				Recorder: events.NewFakeRecorder(10),
			}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: harbour})
			assert.Equal(t, reconcile.Result{}, result)
			assert.True(t, apierrors.IsConflict(err), "%v", err)
		})
	}
}
