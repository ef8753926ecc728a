// Client-list prints the namespaces of a cluster, one per line.
//
// It is the program in first/ with what a user needs around it: flags, a table,
// pages, and errors that say what to do next. It lists once and ends. From stage 3
// on, programs watch instead.
//
//	main.go   the command line, and the path from a configuration to a list
//	list.go   the namespaces, a page at a time
//	print.go  names or a table
//	cli/      which cluster, and what an error means
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/01-client-list/cli"
)

func main() { cli.Main(newCommand()) }

// options are the flags.
type options struct {
	cluster        cli.ConfigFlags
	output         string
	chunkSize      int64
	requestTimeout time.Duration
}

func newCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "client-list",
		Short: "Print the namespaces of a cluster, one per line",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cli.UsageError(command, err)
			}
			config, _, err := o.cluster.Load()
			if err != nil {
				return err
			}
			return run(command.Context(), config, o, command.OutOrStdout())
		},
	}
	flags := command.Flags()
	o.cluster.AddFlags(flags)
	flags.StringVarP(&o.output, "output", "o", "", "the `format`: wide prints NAME, STATUS and AGE; without it one name per line")
	flags.Int64Var(&o.chunkSize, "chunk-size", 500, "request at most `n` namespaces at once; 0 requests all of them")
	flags.DurationVar(&o.requestTimeout, "request-timeout", 10*time.Second, "how long to wait for the answer to one request")
	return command
}

func (o options) validate() error {
	switch {
	case o.output != "" && o.output != "wide":
		return fmt.Errorf("unknown output %q, only wide is known", o.output)
	case o.chunkSize < 0:
		return fmt.Errorf("--chunk-size is %d, it must be 0 or more", o.chunkSize)
	case o.requestTimeout <= 0:
		return fmt.Errorf("--request-timeout is %s, it must be more than 0", o.requestTimeout)
	}
	return nil
}

func run(ctx context.Context, config *rest.Config, o options, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	printer := newPrinter(o.output, out)
	for namespaces, err := range pages(ctx, client.CoreV1().Namespaces(), o.chunkSize, o.requestTimeout) {
		if err != nil {
			err = cli.Explain(err, config.Host)
			if ctx.Err() != nil {
				err = errors.New("interrupted: the list is not complete")
			}
			// What has arrived is worth printing even when the rest is missing.
			return errors.Join(printer.finish(), err)
		}
		if err := printer.print(namespaces); err != nil {
			return err
		}
	}
	return printer.finish()
}
