package observe

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

// options are the command line, checked.
type options struct {
	cluster       cli.ConfigFlags
	resource      string
	allNamespaces bool
	selector      string

	program, delete, names program

	templates []string
	output    string
	strict    bool
	arguments []template // the templates, parsed

	typeVariable   string
	objectVariable string

	once          bool
	exitAfter     time.Duration
	resyncPeriod  time.Duration
	maximumErrors int
	retryExitCode int
	retryCount    int

	quiet        bool
	listenAddr   string
	printMetrics bool
}

// parse checks the command line, with all that is on it. It finds what does not make
// sense before anything runs.
func (o *options) parse(command *cobra.Command, args []string) error {
	err := o.setArgs(args, command.ArgsLenAtDash())
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return cli.UsageError(command, err)
	}
	if o.arguments, err = parseTemplates(o.templates, o.output, o.strict); err != nil {
		return err
	}
	for _, p := range []*program{&o.program, &o.delete, &o.names} {
		if err := p.find(); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	o.cluster.AddFlags(flags)
	o.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVarP(&o.selector, "selector", "l", "", "a label `selector`, such as app=demo or app!=demo")

	flags.StringArrayVarP(&o.templates, "argument", "a", nil, "a `template` that is rendered for each object and becomes one more argument (repeatable)")
	flags.StringVarP(&o.output, "output", "o", "jsonpath", "the `language` of the templates: jsonpath or gotemplate")
	flags.BoolVar(&o.strict, "strict-templates", false, "a missing field is an error instead of an empty string")

	flags.StringArrayVarP(&o.delete.line, "delete", "d", nil, "the `program` to run when an object is deleted, then its leading arguments (repeatable)")
	flags.StringArrayVar(&o.names.line, "names", nil, "the `program` that prints the NAMESPACE/NAME of each object that was handled before, then its arguments (repeatable); needs --delete")
	flags.StringVar(&o.typeVariable, "type-env-var", "", "the `name` of an environment variable for the type of the event: Sync, Added, Updated or Deleted")
	flags.StringVar(&o.objectVariable, "object-env-var", "", "the `name` of an environment variable for the object as JSON")

	flags.DurationVar(&o.resyncPeriod, "resync-period", 0, "replay everything as Sync after each such `duration`; 0 is never")
	flags.BoolVar(&o.once, "once", false, "end when every object has been handled once, with exit code 1 if any has failed")
	flags.DurationVar(&o.exitAfter, "exit-after", 0, "end after this `duration`, when the running child has ended; 0 is never")
	flags.IntVar(&o.maximumErrors, "maximum-errors", 20, "end with exit code 1 after this `number` of failed commands in a row; -1 is never")
	flags.IntVar(&o.retryExitCode, "retry-on-exit-code", 0, "run a command that ends with this `code` again at once; 0 is never")
	flags.IntVar(&o.retryCount, "retry-count", 2, "the `number` of times to do that before the command has failed; with --once, the number of times to retry any failure")

	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not print the lines that begin with #")
	flags.StringVar(&o.listenAddr, "listen-addr", ":11251", "the `address` of /metrics and /healthz, on loopback unless it names a host; empty is none")
	flags.BoolVar(&o.printMetrics, "print-metrics-on-exit", false, "print the metrics to stdout at the end")
}

// setArgs takes what is not a flag: RESOURCE, and after -- the command.
func (o *options) setArgs(args []string, dash int) error {
	resources := args
	if dash >= 0 {
		resources, o.program.line = args[:dash], args[dash:]
	}
	switch {
	case len(resources) == 0:
		return errors.New("name the RESOURCE to observe, such as pods or deployments.apps")
	case len(resources) > 1:
		return fmt.Errorf("one RESOURCE can be observed, %q is a second; a command goes after --", resources[1])
	case strings.ContainsAny(resources[0], ",/"):
		return fmt.Errorf("RESOURCE is %q, it must be one type, such as pods or deployments.apps", resources[0])
	}
	o.resource = resources[0]
	return nil
}

// check checks the values of the flags.
func (o *options) check() error {
	_, badSelector := labels.Parse(o.selector)
	switch {
	case badSelector != nil:
		return fmt.Errorf("the selector %q is not valid: %w; it looks like app=demo or app!=demo", o.selector, badSelector)
	case o.output != "jsonpath" && o.output != "gotemplate":
		return fmt.Errorf("unknown output %q, it can be jsonpath or gotemplate", o.output)
	case o.names.given() && !o.delete.given():
		return errors.New("--names needs --delete, the program to run for each object that no longer exists")
	case o.resyncPeriod < 0:
		return fmt.Errorf("--resync-period is %s, it must be 0 or more", o.resyncPeriod)
	case o.exitAfter < 0:
		return fmt.Errorf("--exit-after is %s, it must be 0 or more", o.exitAfter)
	case o.maximumErrors < 1 && o.maximumErrors != -1:
		return fmt.Errorf("--maximum-errors is %d, it must be 1 or more, or -1 for never", o.maximumErrors)
	case o.retryExitCode < 0 || o.retryExitCode > 255:
		return fmt.Errorf("--retry-on-exit-code is %d, exit codes are 0 to 255", o.retryExitCode)
	case o.retryCount < 0:
		return fmt.Errorf("--retry-count is %d, it must be 0 or more", o.retryCount)
	}
	for flag, name := range map[string]string{"--type-env-var": o.typeVariable, "--object-env-var": o.objectVariable} {
		if strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("%s is %q, the name of a variable has no = in it", flag, name)
		}
	}
	return nil
}
