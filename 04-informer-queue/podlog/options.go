package podlog

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"example.com/hacking-a-controller/04-informer-queue/cluster"
)

// options are the command line, checked.
type options struct {
	cluster       cluster.Flags
	allNamespaces bool
	resync        time.Duration
}

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := pflag.NewFlagSet("podlog", pflag.ContinueOnError)
	o.cluster.AddFlags(flags)
	o.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.DurationVar(&o.resync, "resync", 0, "how `often` to be told of every pod again, though nothing has changed; 0 is never")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Log what an informer tells of pods.\n\nUsage:\n  podlog [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}

	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return o, err
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.resync != 0 && o.resync < time.Second:
		err = fmt.Errorf("--resync is %s, it must be 0 or at least 1s", o.resync)
	}
	if err != nil {
		return o, fmt.Errorf("%w; see podlog --help", err)
	}
	return o, nil
}
