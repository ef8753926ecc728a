package clientgo

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/cluster"
)

// Main is the program without its process. It returns the exit code: 0 also when
// the context has ended, because nothing else ends it.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parseCommand(args, stdout)
	if err == nil {
		err = c.run(ctx)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) && ctx.Err() == nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

// command is the command line, checked.
type command struct {
	cluster       cluster.Flags
	allNamespaces bool
	workers       int
}

// parseCommand reads the command line. When the user asks for help it prints the
// help to stdout and returns pflag.ErrHelp.
func parseCommand(args []string, stdout io.Writer) (command, error) {
	var c command
	flags := pflag.NewFlagSet("clientgo", pflag.ContinueOnError)
	c.cluster.AddFlags(flags)
	c.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&c.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.IntVar(&c.workers, "workers", defaultWorkers, "how `many` Ats to work on at the same time")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Run the commands of Ats when their time has come.\n\nUsage:\n  clientgo [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}

	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return c, err
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err == nil && c.workers < 1 {
		err = fmt.Errorf("--workers is %d, it must be at least 1", c.workers)
	}
	if err != nil {
		return c, fmt.Errorf("%w; see clientgo --help", err)
	}
	return c, nil
}

func (c command) run(ctx context.Context) error {
	config, namespace, err := c.cluster.Config()
	if err != nil {
		return err
	}
	if c.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	return Run(ctx, config, Options{Namespace: namespace, Workers: c.workers})
}
