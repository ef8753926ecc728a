package observe

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

const usage = `Run a command for every object of a type, and again whenever one changes.

Usage:
  observe RESOURCE [flags] [-- COMMAND ARGS...]

The command is given its own ARGS, the namespace (if the type has namespaces),
the name, and what the templates rendered. Without a command, these are printed.

Flags:
`

// options are the command line, checked.
type options struct {
	cluster       cli.ConfigFlags
	resource      string
	allNamespaces bool
	selector      string

	command []string
	delete  []string
	names   []string
	// The same, found in $PATH. One that was not given has no path.
	commandProgram, deleteProgram, namesProgram program

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

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (*options, error) {
	o := &options{}
	flags := pflag.NewFlagSet("observe", pflag.ContinueOnError)
	flags.SortFlags = false
	o.addFlags(flags)
	flags.Usage = func() { fmt.Fprint(stdout, usage, flags.FlagUsages()) }

	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return nil, err
	}
	if err == nil {
		err = o.setArgs(flags.Args(), flags.ArgsLenAtDash())
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w; see observe --help", err)
	}
	return o, o.prepare()
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	o.cluster.AddFlags(flags)
	o.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVarP(&o.selector, "selector", "l", "", "a label `selector`, such as app=demo or app!=demo")

	flags.StringArrayVarP(&o.templates, "argument", "a", nil, "a `template` that is rendered for each object and becomes one more argument (repeatable)")
	flags.StringVarP(&o.output, "output", "o", "jsonpath", "the `language` of the templates: jsonpath or gotemplate")
	flags.BoolVar(&o.strict, "strict-templates", false, "a missing field is an error instead of an empty string")

	flags.StringArrayVarP(&o.delete, "delete", "d", nil, "the `program` to run when an object is deleted, then its leading arguments (repeatable)")
	flags.StringArrayVar(&o.names, "names", nil, "the `program` that prints the NAMESPACE/NAME of each object that was handled before, then its arguments (repeatable); needs --delete")
	flags.StringVar(&o.typeVariable, "type-env-var", "", "the `name` of an environment variable for the type of the event: Sync, Added, Updated or Deleted")
	flags.StringVar(&o.objectVariable, "object-env-var", "", "the `name` of an environment variable for the object as JSON")

	flags.DurationVar(&o.resyncPeriod, "resync-period", 0, "how `often` to replay everything known as Sync; 0 is never")
	flags.BoolVar(&o.once, "once", false, "end when every object has been handled once, with exit code 1 if any has failed")
	flags.DurationVar(&o.exitAfter, "exit-after", 0, "end after that `long`, when the running child has ended; 0 is never")
	flags.IntVar(&o.maximumErrors, "maximum-errors", 20, "end with exit code 1 after so `many` failed commands in a row; -1 is never")
	flags.IntVar(&o.retryExitCode, "retry-on-exit-code", 0, "run a command that ends with this `code` again at once; 0 is never")
	flags.IntVar(&o.retryCount, "retry-count", 2, "how `often` to do that, before the command has failed; with --once, how often to try again whatever has failed")

	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not print the lines that begin with #")
	flags.StringVar(&o.listenAddr, "listen-addr", ":11251", "the `address` of /metrics and /healthz, on loopback unless it names a host; empty is none")
	flags.BoolVar(&o.printMetrics, "print-metrics-on-exit", false, "print the metrics to stdout at the end")
}

// setArgs takes what is not a flag: RESOURCE, and after -- the command.
func (o *options) setArgs(args []string, dash int) error {
	resources := args
	if dash >= 0 {
		resources, o.command = args[:dash], args[dash:]
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

// check finds what does not make sense, before anything runs.
func (o *options) check() error {
	_, badSelector := labels.Parse(o.selector)
	switch {
	case badSelector != nil:
		return fmt.Errorf("the selector %q is not valid: %w; it looks like app=demo or app!=demo", o.selector, badSelector)
	case o.output != "jsonpath" && o.output != "gotemplate":
		return fmt.Errorf("unknown output %q, it can be jsonpath or gotemplate", o.output)
	case len(o.names) > 0 && len(o.delete) == 0:
		return errors.New("--names needs --delete: what was handled and is no more must be told to a program")
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

// prepare parses the templates and finds the programs.
func (o *options) prepare() (err error) {
	if o.arguments, err = parseTemplates(o.templates, o.output, o.strict); err != nil {
		return err
	}
	for _, p := range []struct {
		line  []string
		found *program
	}{
		{o.command, &o.commandProgram},
		{o.delete, &o.deleteProgram},
		{o.names, &o.namesProgram},
	} {
		if *p.found, err = findProgram(p.line); err != nil {
			return err
		}
	}
	return nil
}
