package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	cloudproviderapi "k8s.io/cloud-provider/api"
)

// NodeIP is the address of the lab's node: it is on this machine only.
const NodeIP = "127.0.0.1"

// watchRetry is the pause after a watch that failed or ended.
const watchRetry = 200 * time.Millisecond

// RunCloud gives the node its address and declares it initialised, whenever
// the node appears, until ctx ends.
//
// A kubelet refuses to call itself 127.0.0.1, and without a network it finds no
// address at all. But one that is told that its cloud provider is "external"
// leaves the address to another program, marks its node with a taint, and waits.
// This function is that program: the smallest of cloud controller managers.
func RunCloud(ctx context.Context, client kubernetes.Interface, nodeName string, log *slog.Logger) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := watchNode(ctx, client, nodeName); err != nil {
			log.Debug("watching the node", "err", err)
		}
	}, watchRetry)
}

// watchNode handles every version of the node that one watch delivers. A watch
// without a resource version begins with the present state, so nothing that
// happened between two watches is missed.
func watchNode(ctx context.Context, client kubernetes.Interface, nodeName string) error {
	w, err := client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", nodeName).String(),
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if node, ok := event.Object.(*corev1.Node); ok && event.Type != watch.Deleted {
			if err := initialise(ctx, client, node); err != nil {
				return err
			}
		}
	}
	return nil
}

// initialise does what is missing, in the order that matters: a client that
// finds the node without the taint may rely on its address.
func initialise(ctx context.Context, client kubernetes.Interface, node *corev1.Node) error {
	if !hasAddress(node) {
		if err := setAddresses(ctx, client, node.Name); err != nil {
			return err
		}
	}
	taints := withoutUninitialised(node.Spec.Taints)
	if len(taints) == len(node.Spec.Taints) {
		return nil
	}
	return replaceTaints(ctx, client, node, taints)
}

// setAddresses writes the node's status, where the kubelet keeps what it finds.
func setAddresses(ctx context.Context, client kubernetes.Interface, nodeName string) error {
	return patch(ctx, client, nodeName, types.MergePatchType,
		map[string]any{"status": map[string]any{"addresses": addresses(nodeName)}}, "status")
}

// replaceTaints fails when the taints are no longer those of node: the watch
// then brings the new ones.
func replaceTaints(ctx context.Context, client kubernetes.Interface, node *corev1.Node, taints []corev1.Taint) error {
	return patch(ctx, client, node.Name, types.JSONPatchType, []map[string]any{
		{"op": "test", "path": "/spec/taints", "value": node.Spec.Taints},
		{"op": "replace", "path": "/spec/taints", "value": taints},
	})
}

func patch(ctx context.Context, client kubernetes.Interface, nodeName string, kind types.PatchType, body any, subresources ...string) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if _, err := client.CoreV1().Nodes().Patch(ctx, nodeName, kind, data, metav1.PatchOptions{}, subresources...); err != nil {
		return fmt.Errorf("initialising the node: %w", err)
	}
	return nil
}

func addresses(nodeName string) []corev1.NodeAddress {
	return []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: NodeIP},
		{Type: corev1.NodeHostName, Address: nodeName},
	}
}

func hasAddress(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool {
		return a.Type == corev1.NodeInternalIP
	})
}

func withoutUninitialised(taints []corev1.Taint) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool {
		return t.Key == cloudproviderapi.TaintExternalCloudProvider
	})
}
