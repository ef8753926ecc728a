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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Which cluster, and as whom: the kubeconfig says it.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err == nil {
		err = run(ctx, config, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	// A Builder takes no context, so Ctrl-C ends the process.
	defer context.AfterFunc(ctx, func() { os.Exit(1) })()
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig = new(os.DevNull) // the config is here; no file says anything else
	getter := flags.WithWrapConfigFn(func(*rest.Config) *rest.Config { return config })
	result := resource.NewBuilder(getter).
		WithScheme(scheme.Scheme, scheme.Scheme.PrioritizedVersionsAllGroups()...). // the Go types to decode into
		ResourceTypeOrNameArgs(true, "namespaces").                                 // what a user would type
		Flatten().                                                                  // a list becomes its items
		Do()
	err := result.Visit(func(info *resource.Info, err error) error {
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
	if err != nil {
		return fmt.Errorf("listing the namespaces: %w", err)
	}
	return nil
}
