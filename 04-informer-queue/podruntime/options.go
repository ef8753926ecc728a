package podruntime

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"example.com/hacking-a-controller/04-informer-queue/cluster"
)

// options are the command line, checked.
type options struct {
	cluster       cluster.Flags
	allNamespaces bool
	since         since
	listenAddr    string
}

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	var o options
	var since string
	flags := pflag.NewFlagSet("podruntime", pflag.ContinueOnError)
	o.cluster.AddFlags(flags)
	o.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVar(&since, "since", "start", "from when a pod counts: from its `start` until its last container has finished, or from its creation until it is deleted")
	flags.StringVar(&o.listenAddr, "listen-addr", ":11252", "the `address` for /metrics and /healthz; without a host only this machine can ask; empty turns them off")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Tell for how long the pods of each namespace have been running.\n\nUsage:\n  podruntime [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}

	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return o, err
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err == nil {
		o.since, err = parseSince(since)
	}
	if err != nil {
		return o, fmt.Errorf("%w; see podruntime --help", err)
	}
	return o, nil
}

func parseSince(name string) (since, error) {
	switch name {
	case "start":
		return sinceStart, nil
	case "creation":
		return sinceCreation, nil
	default:
		return nil, fmt.Errorf("--since is %q, it can be start or creation", name)
	}
}
