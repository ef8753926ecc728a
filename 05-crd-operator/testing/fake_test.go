package layers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

func newFakeClient(t *testing.T) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(newScheme(t)).WithStatusSubresource(&cnat.At{}).Build()
}

// quota refuses pods while it is full.
func quota(full *bool) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if _, isPod := object.(*corev1.Pod); isPod && *full {
			return apierrors.NewForbidden(corev1.Resource("pods"), object.GetName(), errors.New("exceeded quota"))
		}
		return c.Create(ctx, object, options...)
	}}
}

// The fake client brings no events, so the test says when to reconcile, and the test
// ends the pod.
func TestFake(t *testing.T) {
	c := newFakeClient(t)
	require.NoError(t, c.Create(t.Context(), newAt(past)))
	reconcile := func() {
		t.Helper()
		_, err := newReconciler(c).Reconcile(t.Context(), request())
		require.NoError(t, err)
	}

	reconcile()
	assert.Equal(t, cnat.Running, phase(t, c))
	reconcile()
	pod := lifecycle.DesiredPod(newAt(past), lifecycle.DefaultImage)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	assert.Equal(t, []string{lifecycle.Finalizer}, pod.Finalizers)

	pod.Status.Phase = corev1.PodSucceeded
	require.NoError(t, c.Status().Update(t.Context(), pod))
	reconcile()
	assert.Equal(t, cnat.Done, phase(t, c))
	reconcile()
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	assert.Empty(t, pod.Finalizers)
}

// differences are requests that the fake client and an API server answer differently.
var differences = map[string]struct {
	do           func(context.Context, client.Client) string
	fake, server string // what the answer contains
}{
	"schema: a schedule that is not a time": {
		do:     func(ctx context.Context, c client.Client) string { return answer(c.Create(ctx, newAt("tomorrow"))) },
		fake:   "accepted",
		server: "the schedule is not a time",
	},
	"CEL: the schedule of a RUNNING At is changed": {
		do: func(ctx context.Context, c client.Client) string {
			at := newAt(past)
			err := c.Create(ctx, at)
			at.Status.Phase = cnat.Running
			err = errors.Join(err, c.Status().Update(ctx, at))
			at.Spec.Schedule = "2019-04-12T11:12:00Z"
			return answer(errors.Join(err, c.Update(ctx, at)))
		},
		fake:   "accepted",
		server: "the schedule cannot be changed any more",
	},
	"defaulting: a pod without a DNS policy": {
		do: func(ctx context.Context, c client.Client) string {
			pod := newPod()
			return fmt.Sprintf("%s, it is %q", answer(c.Create(ctx, pod)), pod.Spec.DNSPolicy)
		},
		fake:   `accepted, it is ""`,
		server: `accepted, it is "ClusterFirst"`,
	},
	"admission: a pod of a priority class that does not exist": {
		do: func(ctx context.Context, c client.Client) string {
			pod := newPod()
			pod.Spec.PriorityClassName = "urgent"
			return answer(c.Create(ctx, pod))
		},
		fake:   "accepted",
		server: "no PriorityClass with name urgent was found",
	},
	"generation: the command of an At is changed": {
		do: func(ctx context.Context, c client.Client) string {
			at := newAt(past)
			err := c.Create(ctx, at)
			at.Spec.Command = "echo NAY"
			err = errors.Join(err, c.Update(ctx, at))
			return fmt.Sprint(answer(err), ", generation ", at.Generation)
		},
		fake: "accepted, generation 0", server: "accepted, generation 2",
	},
	"UIDs: an At of the same name finds the pod of the last one": {
		do: func(ctx context.Context, c client.Client) string {
			last, next := newAt(past), newAt(past)
			err := c.Create(ctx, last)
			pod := newPod()
			pod.OwnerReferences = lifecycle.DesiredPod(last, lifecycle.DefaultImage).OwnerReferences
			err = errors.Join(err, c.Create(ctx, pod), c.Delete(ctx, last), c.Create(ctx, next))
			return fmt.Sprint(answer(err), ", it is its own: ", lifecycle.IsPodOf(pod, next))
		},
		fake:   "accepted, it is its own: true",
		server: "accepted, it is its own: false",
	},
}

func answer(err error) string {
	if err != nil {
		return err.Error()
	}
	return "accepted"
}

func TestWhatTheFakeClientAnswers(t *testing.T) {
	for name, difference := range differences {
		t.Run(name, func(t *testing.T) {
			got := difference.do(t.Context(), newFakeClient(t))
			t.Log(got)
			assert.Contains(t, got, difference.fake)
		})
	}
}
