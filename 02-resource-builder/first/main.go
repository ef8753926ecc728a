// First lists the namespaces of a cluster in the way of kubectl.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Which cluster, and as whom: the kubeconfig says it, as it does to kubectl.
	err := run(ctx, genericclioptions.NewConfigFlags(true), []string{"namespaces"}, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *genericclioptions.ConfigFlags, args []string, out io.Writer) error {
	// A Builder takes no context, so Ctrl-C ends the process.
	defer context.AfterFunc(ctx, func() { os.Exit(1) })()
	result := resource.NewBuilder(config).
		// The Go types to decode into.
		WithScheme(scheme.Scheme, scheme.Scheme.PrioritizedVersionsAllGroups()...).
		// What a user types after kubectl get.
		ResourceTypeOrNameArgs(true, args...).
		// A list becomes its items.
		Flatten().
		Do()
	return result.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		switch object := info.Object.(type) {
		case *corev1.Namespace:
			fmt.Fprintln(out, object.Name, "is currently", object.Status.Phase)
		default:
			return fmt.Errorf("unknown type %T", object)
		}
		return nil
	})
}
