package secretsync

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/hacking-a-controller/04-informer-queue/cluster"
)

// options are the command line, checked.
type options struct {
	cluster cluster.Flags
	rules   rules
	resync  time.Duration
	workers int
	dryRun  bool
}

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	o.cluster.AddFlags(flags)
	flags.StringVar(&o.rules.sourceNamespace, "source-namespace", "secretsync", "the `namespace` whose secrets are copied")
	flags.StringVar(&o.rules.annotation, "annotation", "example.com/secretsync", "the `key` of the annotation that secrets to copy and namespaces to copy to bear; its value does not matter")
	flags.DurationVar(&o.resync, "resync-period", 10*time.Minute, "how `often` to look at everything again, though nothing has changed; 0 is never")
	flags.IntVar(&o.workers, "workers", 8, "how `many` copies to work on at the same time")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would be done now, do nothing, and end")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Copy annotated secrets of one namespace to all annotated namespaces.\n\nUsage:\n  secretsync [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}

	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return o, err
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err == nil {
		err = o.validate()
	}
	if err != nil {
		return o, fmt.Errorf("%w; see secretsync --help", err)
	}
	return o, nil
}

func (o options) validate() error {
	if problems := validation.IsDNS1123Label(o.rules.sourceNamespace); len(problems) > 0 {
		rule, _, _ := strings.Cut(problems[0], " (e.g.") // what follows is a regular expression
		return fmt.Errorf("--source-namespace %q is not the name of a namespace: %s", o.rules.sourceNamespace, rule)
	}
	if o.resync != 0 && o.resync < time.Second {
		return fmt.Errorf("--resync-period is %s, it must be 0 or at least 1s", o.resync)
	}
	if o.workers < 1 {
		return fmt.Errorf("--workers is %d, it must be at least 1", o.workers)
	}
	return validateAnnotation(o.rules.annotation)
}

func validateAnnotation(key string) error {
	// The server compares keys in lower case, too.
	if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
		rule, _, _ := strings.Cut(problems[0], " (e.g.") // what follows is a regular expression
		return fmt.Errorf("--annotation %q is not the key of an annotation: %s; take one such as example.com/secretsync", key, rule)
	}
	domain, _, prefixed := strings.Cut(key, "/")
	for _, reserved := range []string{"kubernetes.io", "k8s.io"} {
		// kubectl annotates all that it applies: every secret would be a source.
		if prefixed && (domain == reserved || strings.HasSuffix(domain, "."+reserved)) {
			return fmt.Errorf("--annotation %q belongs to Kubernetes itself; take a key such as example.com/secretsync", key)
		}
	}
	return nil
}
