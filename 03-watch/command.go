package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
)

// options are the flags that all subcommands have.
type options struct {
	kubeconfig     string
	context        string
	namespace      string
	allNamespaces  bool
	selector       string
	requestTimeout time.Duration
	stdout, stderr io.Writer
}

func newCommand(stdout, stderr io.Writer) *cobra.Command {
	o := &options{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:           "watch",
		Short:         "Listen to a cluster",
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown subcommand %q; it can be naive, pods, raw or runtime", args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, command.CommandPath())
	})

	flags := root.PersistentFlags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig `file`; without it $KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringVar(&o.context, "context", "", "the `name` of the kubeconfig context; without it the current one")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the `namespace`; without it the one of the context")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVarP(&o.selector, "selector", "l", "", "a label `selector`, such as app=demo or app!=demo")
	flags.DurationVar(&o.requestTimeout, "request-timeout", 30*time.Second, "how `long` to wait for the answer to one request")

	root.AddCommand(naiveCommand(o), podsCommand(o), rawCommand(o), runtimeCommand(o))
	for _, command := range root.Commands() {
		command.Args = noArgs
	}
	return root
}

func noArgs(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q; see %s --help", args[0], command.CommandPath())
	}
	return nil
}

// validate checks the flags that all subcommands have.
func (o *options) validate() error {
	if _, err := labels.Parse(o.selector); err != nil {
		return fmt.Errorf("the selector %q is not valid: %w; it looks like app=demo or app!=demo", o.selector, err)
	}
	if o.requestTimeout <= 0 {
		return fmt.Errorf("--request-timeout is %s, it must be more than 0", o.requestTimeout)
	}
	return nil
}

// note prints what the user may like to know, but did not ask for.
func (o *options) note(format string, args ...any) {
	fmt.Fprintf(o.stderr, "# "+format+"\n", args...)
}

// with connects, and hands the connection to a subcommand. It explains the
// errors of the subcommand's requests.
func (o *options) with(do func(ctx context.Context, config *rest.Config, namespace string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, _ []string) error {
		if err := o.validate(); err != nil {
			return err
		}
		config, namespace, err := o.connect()
		if err != nil {
			return err
		}
		ctx := command.Context()
		err = do(ctx, config, namespace)
		if ctx.Err() != nil {
			return nil // Ctrl-C: whatever failed, it failed because of that
		}
		return explain(err, config.Host)
	}
}
