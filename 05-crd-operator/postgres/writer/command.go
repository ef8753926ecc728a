package writer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// Command returns the program.
func Command() *cobra.Command {
	var (
		flags cli.ConfigFlags
		pause time.Duration
	)
	command := &cobra.Command{
		Use:   "writer CLUSTER",
		Short: "Write rows to a PostgresCluster until Ctrl-C, and count then which of them are there",
		Args: func(command *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.UsageError(command, errors.New("name one PostgresCluster"))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			config, namespace, err := flags.Load()
			if err != nil {
				return err
			}
			c, err := client.New(config, client.Options{})
			if err != nil {
				return cli.Explain(err, config.Host)
			}
			address, err := find(command.Context(), c, client.ObjectKey{Namespace: namespace, Name: args[0]})
			if err != nil {
				return cli.Explain(err, config.Host)
			}
			return Run(command.Context(), Options{Config: address, Pause: pause, Out: command.OutOrStdout()})
		},
	}
	flags.AddFlags(command.Flags())
	flags.AddNamespaceFlag(command.Flags())
	command.Flags().DurationVar(&pause, "pause", 5*time.Millisecond, "how long to wait between two rows")
	return command
}

// find returns how to connect to the primary of a cluster: by the node port of its Service, with
// the password in its Secret.
func find(ctx context.Context, c client.Client, cluster client.ObjectKey) (*pgconn.Config, error) {
	var service corev1.Service
	var secret corev1.Secret
	for _, object := range []client.Object{&service, &secret} {
		if err := c.Get(ctx, cluster, object); err != nil {
			return nil, err
		}
	}
	if len(service.Spec.Ports) == 0 || service.Spec.Ports[0].NodePort == 0 {
		return nil, fmt.Errorf("the Service %s has no node port; run the operator with --service-type NodePort", cluster.Name)
	}
	config, err := pgconn.ParseConfig("host=127.0.0.1 sslmode=disable user=postgres dbname=postgres connect_timeout=2 port=" + strconv.Itoa(int(service.Spec.Ports[0].NodePort)))
	if err != nil {
		return nil, err
	}
	config.Password = string(secret.Data[corev1.BasicAuthPasswordKey])
	return config, nil
}
