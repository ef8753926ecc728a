//go:build !try

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// mistakes make another operator of this one, by what its client does for it. A test that is worth its
// name finds each.
var mistakes = map[string]interceptor.Funcs{
	"the spec of a Deployment that is there stays as it is": {
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return nil },
	},
	"each reconcile updates the Deployment": {Get: afterGet(func(ctx context.Context, c client.WithWatch, deployment *appsv1.Deployment) error {
		return c.Update(ctx, deployment)
	})},
	"the Deployment of somebody else is taken over": {Get: afterGet(func(ctx context.Context, c client.WithWatch, deployment *appsv1.Deployment) error {
		light := &Lighthouse{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(deployment), light); err != nil {
			return err
		}
		deployment.OwnerReferences = nil
		return ctrl.SetControllerReference(light, deployment, c.Scheme())
	})},
	"an update takes away what others have set": {
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			object.(*appsv1.Deployment).Spec.Template.Annotations = nil
			return c.Update(ctx, object, options...)
		},
	},
	"it is Ready while pods have the old flash": {Get: afterGet(func(_ context.Context, _ client.WithWatch, deployment *appsv1.Deployment) error {
		deployment.Status.UpdatedReplicas = deployment.Status.Replicas
		return nil
	})},
	"nobody knows which spec the condition is about": {
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			for i := range object.(*Lighthouse).Status.Conditions {
				object.(*Lighthouse).Status.Conditions[i].ObservedGeneration = 0
			}
			return c.SubResource(name).Update(ctx, object, options...)
		},
	},
}

// afterGet changes what is read of a Deployment.
func afterGet(change func(context.Context, client.WithWatch, *appsv1.Deployment) error) func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
	return func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		if deployment, is := object.(*appsv1.Deployment); is && err == nil {
			return change(ctx, c, deployment)
		}
		return err
	}
}

// mistake is the variable with the mistake of the operator to test.
const mistake = "LIGHTHOUSE_MISTAKE"

// newOperator returns a client of some objects in memory, and a function that reconciles eddystone once.
func newOperator(t *testing.T, objects ...client.Object) (c client.Client, reconcile func() error) {
	t.Helper()
	s := newSea(t, objects...)
	r := &reconciler{interceptor.NewClient(s, mistakes[os.Getenv(mistake)])}
	return s, func() error {
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		return err
	}
}

// TestEachMistakeIsFound runs TestOperator with the right operator, and with each wrong one.
func TestEachMistakeIsFound(t *testing.T) {
	passed, output := testOperatorWith(t, "")
	for name := range mistakes {
		t.Run(name, func(t *testing.T) {
			require.True(t, passed, "your test fails, although the operator is right:\n%s", output)
			passed, output := testOperatorWith(t, name)
			assert.NotContains(t, output, "panic: ", "a test that panics ends all others")
			assert.False(t, passed, "your test passes, although with this operator %s", name)
		})
	}
}

// testOperatorWith runs TestOperator in a process of its own, since it is to fail there.
func testOperatorWith(t *testing.T, name string) (passed bool, output string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOperator$", "-test.v")
	command.Env = append(os.Environ(), mistake+"="+name)
	printed, err := command.CombinedOutput()
	require.True(t, bytes.Contains(printed, []byte("=== RUN   TestOperator\n")), "TestOperator was not run:\n%s", printed)
	return err == nil, string(printed)
}
