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
	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
)

// Command returns the program.
func Command() *cobra.Command {
	var (
		flags cli.ConfigFlags
		pause time.Duration
		url   string
		sql   string
	)
	command := &cobra.Command{
		Use:   "writer CLUSTER",
		Short: "Write rows to a PostgresCluster until Ctrl-C, and count then which of them are there",
		Args: func(command *cobra.Command, args []string) error {
			if (len(args) == 1) == (url != "") || len(args) > 1 {
				return cli.UsageError(command, errors.New("name one PostgresCluster, or another PostgreSQL with --url"))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			config, err := pgconn.ParseConfig(url)
			if url == "" {
				config, err = load(command.Context(), &flags, args[0])
			}
			if err != nil {
				return err
			}
			if sql != "" {
				return Query(command.Context(), config, sql, command.OutOrStdout())
			}
			return Run(command.Context(), Options{Config: config, Pause: pause, Out: command.OutOrStdout()})
		},
	}
	flags.AddFlags(command.Flags())
	flags.AddNamespaceFlag(command.Flags())
	command.Flags().DurationVar(&pause, "pause", 5*time.Millisecond, "how long to wait between two rows")
	command.Flags().StringVar(&url, "url", "", "another PostgreSQL, such as \"host=127.0.0.1 port=5432 user=app\", in place of CLUSTER")
	command.Flags().StringVar(&sql, "sql", "", "commands of SQL to run once, in place of writing")
	return command
}

// load returns how to connect to a PostgresCluster that a user names.
func load(ctx context.Context, flags *cli.ConfigFlags, cluster string) (*pgconn.Config, error) {
	config, namespace, err := flags.Load()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, cli.Explain(err, config.Host)
	}
	found, err := find(ctx, c, client.ObjectKey{Namespace: namespace, Name: cluster})
	return found, cli.Explain(err, config.Host)
}

// find returns how to connect to the primary of a cluster, as the role app: by the node port of its
// Service, with the password in its Secret, and trusting the CAs in its ConfigMap.
func find(ctx context.Context, c client.Client, cluster client.ObjectKey) (*pgconn.Config, error) {
	var service corev1.Service
	var secret corev1.Secret
	var bundle corev1.ConfigMap
	for suffix, object := range map[string]client.Object{"": &service, "-app": &secret, "-ca": &bundle} {
		if err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name + suffix}, object); err != nil {
			return nil, err
		}
	}
	if len(service.Spec.Ports) == 0 || service.Spec.Ports[0].NodePort == 0 {
		return nil, fmt.Errorf("the Service %s has no node port; run the operator with --service-type NodePort", cluster.Name)
	}
	// The CAs are in no file, so TLS is set below.
	config, err := pgconn.ParseConfig("host=127.0.0.1 sslmode=disable user=app dbname=app connect_timeout=2 port=" + strconv.Itoa(int(service.Spec.Ports[0].NodePort)))
	if err != nil {
		return nil, err
	}
	config.Password = string(secret.Data[corev1.BasicAuthPasswordKey])
	config.TLSConfig, err = certificate.ClientConfig([]byte(bundle.Data["ca.crt"]), cluster.Name+"."+cluster.Namespace+".svc")
	return config, err
}
