package cluster

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	cloudproviderapi "k8s.io/cloud-provider/api"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

func newNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "some-node"},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: cloudproviderapi.TaintExternalCloudProvider, Effect: corev1.TaintEffectNoSchedule},
			{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule},
		}},
	}
}

func TestTheCloudInitialisesANodeWheneverItAppears(t *testing.T) {
	client := fake.NewClientset()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { RunCloud(ctx, client, "some-node", slog.New(slog.DiscardHandler)) })
	defer wg.Wait()
	defer cancel()

	for range 2 { // a node that was deleted registers again
		// The fake watch shows no present state: create until it has been seen.
		require.Eventually(t, func() bool {
			_ = client.CoreV1().Nodes().Delete(ctx, "some-node", metav1.DeleteOptions{})
			_, err := client.CoreV1().Nodes().Create(ctx, newNode(), metav1.CreateOptions{})
			require.NoError(t, err)
			return initialised(ctx, client) == nil
		}, testenv.Timeout(), 50*time.Millisecond)
	}
}

func initialised(ctx context.Context, client *fake.Clientset) error {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	return Wait(ctx, Condition{Name: "initialised", Check: func(ctx context.Context) error {
		node, err := client.CoreV1().Nodes().Get(ctx, "some-node", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !hasAddress(node) || len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != corev1.TaintNodeNotReady {
			return assert.AnError
		}
		return nil
	}})
}

func TestAnInitialisedNodeIsLeftAlone(t *testing.T) {
	node := newNode()
	node.Spec.Taints = node.Spec.Taints[1:]
	node.Status.Addresses = addresses(node.Name)
	client := fake.NewClientset(node)
	require.NoError(t, initialise(t.Context(), client, node))
	assert.Empty(t, client.Actions())
}

func TestUsable(t *testing.T) {
	ready := corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
	for name, tc := range map[string]struct {
		node corev1.Node
		want string
	}{
		"a ready node":                       {corev1.Node{Status: ready}, ""},
		"a cordoned node is a person's wish": {corev1.Node{Status: ready, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}}}, ""},
		"so is a taint of a person's own":    {corev1.Node{Status: ready, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}}}, ""},
		"a silent kubelet":                   {corev1.Node{}, "has not reported"},
		"a node that takes no pods yet":      {corev1.Node{Status: ready, Spec: newNode().Spec}, cloudproviderapi.TaintExternalCloudProvider},
	} {
		t.Run(name, func(t *testing.T) {
			tc.node.Name = "some-node"
			err := nodeReady(t.Context(), fake.NewClientset(&tc.node), "some-node")
			if tc.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tc.want)
			}
		})
	}
}
