// Watch watches a cluster, in three ways, one after the other:
//
//	watch pods      the program in first/ without its faults
//	watch raw       the same without client-go
//	watch runtime   a program that acts on each event, and what that costs
//
// They share a loop:
//
//	state.go     what has been reported, and what is new: pure, without a server
//	follow.go    the loop: list, watch, and go on when a watch ends
//	backoff.go   how long to pause in between
//	source.go    the two requests, for pods and for any type
//
// Nothing here has a queue. What state.go keeps is what an informer calls its store; stage 4 has
// informers, and a cache that handlers and workers can read.
package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/03-watch/cli"
)

func main() { cli.Main(newCommand()) }

// options are the flags that all subcommands have.
type options struct {
	cluster        cli.ConfigFlags
	allNamespaces  bool
	selector       string
	requestTimeout time.Duration
}

func newCommand() *cobra.Command {
	o := &options{}
	root := &cobra.Command{
		Use:   "watch",
		Short: "Watch a cluster",
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UsageError(command, fmt.Errorf("unknown subcommand %q", args[0]))
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	flags := root.PersistentFlags()
	o.cluster.AddFlags(flags)
	o.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVarP(&o.selector, "selector", "l", "", "a label `selector`, such as app=demo or app!=demo")
	flags.DurationVar(&o.requestTimeout, "request-timeout", 30*time.Second, "how `long` to wait for the answer to one request")

	root.AddCommand(podsCommand(o), rawCommand(o), runtimeCommand(o))
	for _, command := range root.Commands() {
		command.Args = cli.NoArgs
	}
	return root
}

func (o *options) validate() error {
	if _, err := labels.Parse(o.selector); err != nil {
		return fmt.Errorf("the selector %q is not valid: %w; it looks like app=demo or app!=demo", o.selector, err)
	}
	if o.requestTimeout <= 0 {
		return fmt.Errorf("--request-timeout is %s, it must be more than 0", o.requestTimeout)
	}
	return nil
}

// with loads the configuration, and explains the errors of the subcommand's requests.
func (o *options) with(run func(command *cobra.Command, config *rest.Config, namespace string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, _ []string) error {
		if err := o.validate(); err != nil {
			return cli.UsageError(command, err)
		}
		config, namespace, err := o.cluster.Load()
		if err != nil {
			return err
		}
		config.WarningHandler = rest.NewWarningWriter(command.ErrOrStderr(), rest.WarningWriterOptions{Deduplicate: true})
		if o.allNamespaces {
			namespace = metav1.NamespaceAll
		}
		err = run(command, config, namespace)
		if command.Context().Err() != nil {
			return nil // Ctrl-C: whatever failed, it failed because of that
		}
		return cli.Explain(err, config.Host)
	}
}

// notesOf returns a function that prints what is useful to know, and not the output.
func notesOf(command *cobra.Command) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(command.ErrOrStderr(), "# "+format+"\n", args...) }
}
