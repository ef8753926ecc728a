// Package cluster talks to the lab's API server as its administrator: it
// decides when the cluster is usable, and gives the node its address.
package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/pki"
)

const (
	pollInterval   = 50 * time.Millisecond
	requestTimeout = 5 * time.Second
)

// NewClient returns a client of the lab in a kubeconfig file, whichever context is the current one.
func NewClient(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: pki.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig (to write it: lab down, then lab up): %w", err)
	}
	config.QPS = -1 // the lab polls: its own limiter must not slow it down
	return kubernetes.NewForConfig(config)
}

// Condition is one of the things that make a cluster usable.
type Condition struct {
	// Name says it in words: "node lab-node is Ready".
	Name string
	// Check returns nil when it holds, else what is missing.
	Check func(context.Context) error
}

// Usable lists what has to hold before a person can work: the API server is
// ready, the node takes pods, and pods have an identity to run under.
func Usable(client kubernetes.Interface, nodeName string) []Condition {
	return []Condition{
		{"the API server is ready", func(ctx context.Context) error { return ready(ctx, client) }},
		{"node " + nodeName + " is Ready", func(ctx context.Context) error { return nodeReady(ctx, client, nodeName) }},
		{"the default service account exists", func(ctx context.Context) error { return serviceAccount(ctx, client) }},
	}
}

// Wait checks a condition until it holds or ctx ends. The error then says what
// was missing last.
func Wait(ctx context.Context, c Condition) error {
	for {
		err := check(ctx, c)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w (last answer: %w)", c.Name, context.Cause(ctx), err)
		case <-time.After(pollInterval):
		}
	}
}

func check(ctx context.Context, c Condition) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.Check(ctx)
}

func ready(ctx context.Context, client kubernetes.Interface) error {
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func nodeReady(ctx context.Context, client kubernetes.Interface, name string) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, taint := range node.Spec.Taints { // of Kubernetes' own; any other is a person's wish
		if taint.Effect == corev1.TaintEffectNoSchedule && strings.HasPrefix(taint.Key, "node.") && taint.Key != corev1.TaintNodeUnschedulable {
			return fmt.Errorf("the node still has the taint %s", taint.Key)
		}
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("the kubelet has not reported that it is ready")
}

func serviceAccount(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}
