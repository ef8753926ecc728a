package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

const usage = `Run a command for every object of a type, and again whenever one changes.

  observe RESOURCE [flags] [-- COMMAND ARGS...]

The command gets its own ARGS, the namespace (if the type has namespaces), the
name, and what the templates rendered. Without a command, these are printed.

`

// options are the command line, checked.
type options struct {
	cluster       *genericclioptions.ConfigFlags // which cluster, and as whom: the flags of kubectl
	resource      string
	allNamespaces bool
	selector      string

	program, delete, names program

	templates []string
	output    string
	strict    bool
	arguments []template // the templates, parsed

	typeVariable, objectVariable string

	once                    bool
	exitAfter, resyncPeriod time.Duration
	maximumErrors           int
	retryExitCode           uint8
	retryCount              uint

	quiet        bool
	listenAddr   string
	printMetrics bool
}

// parseFlags finds what does not make sense before anything runs.
func parseFlags(args []string, stdout io.Writer) (*options, error) {
	o := &options{cluster: genericclioptions.NewConfigFlags(true)}
	flags := pflag.NewFlagSet("observe", pflag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(stdout, usage, flags.FlagUsagesWrapped(100)) }
	o.addFlags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if err := o.setArgs(flags.Args(), flags.ArgsLenAtDash()); err != nil {
		return nil, err
	}
	if o.once && !flags.Changed("maximum-errors") {
		o.maximumErrors = -1 // each object has its tries, and what failed is counted at the end
	}
	if o.names.given() && !o.delete.given() {
		return nil, errors.New("--names needs --delete, the program to run for each object that no longer exists")
	}
	for _, p := range []*program{&o.program, &o.delete, &o.names} {
		if err := p.find(); err != nil {
			return nil, err
		}
	}
	var err error
	o.arguments, err = parseTemplates(o.templates, o.output, o.strict)
	return o, err
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVarP(&o.selector, "selector", "l", "", "a label `selector`, such as app=demo or app!=demo")

	flags.StringArrayVarP(&o.templates, "argument", "a", nil, "a `template` that is rendered for each object and becomes one more argument (repeatable)")
	flags.StringVarP(&o.output, "output", "o", "jsonpath", "the `language` of the templates: jsonpath or gotemplate, as kubectl has them")
	flags.BoolVar(&o.strict, "strict-templates", false, "what is missing is an error instead of an empty string")
	flags.StringVar(&o.typeVariable, "type-env-var", "", "the `name` of an environment variable for the type of the event: Sync, Added, Updated or Deleted")
	flags.StringVar(&o.objectVariable, "object-env-var", "", "the `name` of an environment variable for the object as JSON")

	flags.StringArrayVarP(&o.delete.line, "delete", "d", nil, "the `program` to run when an object is deleted, then its leading arguments (repeatable)")
	flags.StringArrayVar(&o.names.line, "names", nil, "the `program` that prints the NAMESPACE/NAME of each object that was handled before, then its arguments (repeatable); needs --delete")

	flags.BoolVar(&o.once, "once", false, "end when every object has been handled once, with exit code 1 if any has failed")
	flags.DurationVar(&o.resyncPeriod, "resync-period", 0, "replay everything as Sync after each such `duration`; 0 is never")
	flags.DurationVar(&o.exitAfter, "exit-after", 0, "end after this `duration`, when the running child has ended; 0 is never")
	flags.IntVar(&o.maximumErrors, "maximum-errors", 20, "end with exit code 1 after this `number` of failed commands in a row, with 0 after the first; -1 is never, as it is with --once")
	flags.Uint8Var(&o.retryExitCode, "retry-on-exit-code", 0, "run a command that ends with this `code` again at once; 0 is never")
	flags.UintVar(&o.retryCount, "retry-count", 2, "the `number` of times to do that before the command has failed; with --once, the number of times to retry any failure")

	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not print the lines that begin with #")
	flags.StringVar(&o.listenAddr, "listen-addr", "127.0.0.1:11251", "the `address` of /metrics and /healthz; empty is none")
	flags.BoolVar(&o.printMetrics, "print-metrics-on-exit", false, "print the metrics to stdout at the end")
	o.cluster.AddFlags(flags)
}

// setArgs takes what is not a flag: RESOURCE, and after -- the command.
func (o *options) setArgs(args []string, dash int) error {
	resources := args
	if dash >= 0 {
		resources, o.program.line = args[:dash], args[dash:]
	}
	switch {
	case len(resources) == 0:
		return errors.New("name the RESOURCE to observe, such as pods or deployments.apps; see observe --help")
	case len(resources) > 1:
		return fmt.Errorf("one RESOURCE can be observed, %q is a second; a command goes after --", resources[1])
	case strings.ContainsAny(resources[0], ",/"):
		return fmt.Errorf("RESOURCE is %q, it must be one type, such as pods or deployments.apps", resources[0])
	}
	o.resource = resources[0]
	return nil
}

// program is a program and its leading arguments. The zero value is none.
type program struct {
	line []string // as the user wrote it
	path string
}

func (p *program) given() bool { return len(p.line) > 0 }

// find finds the program in $PATH, once and not again for each object.
func (p *program) find() (err error) {
	if !p.given() {
		return nil
	}
	if p.path, err = exec.LookPath(p.line[0]); err != nil {
		return fmt.Errorf("the command cannot be run: %w; name a program in $PATH, or the path of an executable file", err)
	}
	return nil
}
