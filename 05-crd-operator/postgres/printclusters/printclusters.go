// Package printclusters lists PostgresClusters, and then watches them from that very version of
// the list on, so that it misses nothing in between.
package printclusters

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// Command returns the program.
func Command() *cobra.Command {
	var flags cli.ConfigFlags
	command := &cobra.Command{
		Use:   "printclusters",
		Short: "Print the PostgresClusters of a namespace, and what happens to them, until Ctrl-C",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			config, namespace, err := flags.Load()
			if err != nil {
				return err
			}
			scheme := runtime.NewScheme()
			if err := postgres.AddToScheme(scheme); err != nil {
				return err
			}
			c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
			if err == nil {
				err = Print(command.Context(), c, namespace, command.OutOrStdout())
			}
			return cli.Explain(err, config.Host)
		},
	}
	flags.AddFlags(command.Flags())
	flags.AddNamespaceFlag(command.Flags())
	return command
}

// Print writes a line for each cluster of a namespace, and then for each event, until the
// context ends or the server ends the watch.
func Print(ctx context.Context, c client.WithWatch, namespace string, out io.Writer) error {
	var clusters postgres.PostgresClusterList
	if err := c.List(ctx, &clusters, client.InNamespace(namespace)); err != nil {
		return err
	}
	fmt.Fprintf(out, "there are %d PostgresClusters at version %s\n", len(clusters.Items), clusters.ResourceVersion)
	for _, cluster := range clusters.Items {
		printCluster(out, "LISTED", &cluster)
	}
	events, err := c.Watch(ctx, &clusters, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: clusters.ResourceVersion}})
	if err != nil {
		return err
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-events.ResultChan():
			if !open {
				return errors.New("the server has ended the watch; run the program again, or see in stage 3 how an informer goes on")
			}
			if event.Type == watch.Error {
				return apierrors.FromObject(event.Object)
			}
			if cluster, ok := event.Object.(*postgres.PostgresCluster); ok {
				printCluster(out, string(event.Type), cluster)
			}
		}
	}
}

func printCluster(out io.Writer, event string, cluster *postgres.PostgresCluster) {
	s := cluster.Status
	fmt.Fprintf(out, "%-8s %s/%s size=%d phase=%s term=%d primary=%s synced=%v\n",
		event, cluster.Namespace, cluster.Name, cluster.Spec.Size, s.Phase, s.Term, s.Primary, s.Synced)
}
