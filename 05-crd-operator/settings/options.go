package settings

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/hacking-a-controller/05-crd-operator/cluster"
)

// options are the command line, checked.
type options struct {
	cluster       cluster.Flags
	allNamespaces bool
	namespace     string // empty for all
	configMap     string
	workers       int
	unwatched     bool // of Options
}

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	o.cluster.AddFlags(flags)
	o.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVar(&o.configMap, "config-map", "settings", "the `name` of the ConfigMap in each namespace; the role allows only settings")
	flags.IntVar(&o.workers, "workers", 4, "how `many` namespaces to work on at the same time")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Merge the SettingsLayers of a namespace into a ConfigMap, and keep it so.\n\nUsage:\n  settings [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}

	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return o, err
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	default:
		err = o.validate()
	}
	if err != nil {
		return o, fmt.Errorf("%w; see settings --help", err)
	}
	return o, nil
}

func (o options) validate() error {
	if problems := validation.IsDNS1123Subdomain(o.configMap); len(problems) > 0 {
		rule, _, _ := strings.Cut(problems[0], " (e.g.") // what follows is a regular expression
		return fmt.Errorf("--config-map %q is not the name of a ConfigMap: %s", o.configMap, rule)
	}
	if o.workers < 1 {
		return fmt.Errorf("--workers is %d, it must be at least 1", o.workers)
	}
	return nil
}
