package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const usage = `Print what objects are currently doing, a sentence each.

Usage:
  resource-builder TYPE[,TYPE...] [NAME...] [flags]
  resource-builder TYPE/NAME... [flags]
  resource-builder -f FILE|DIRECTORY|- [flags]

Flags:
`

// options are the command line, checked.
type options struct {
	config         *genericclioptions.ConfigFlags
	args           []string // TYPE [NAME...] or TYPE/NAME...
	files          resource.FilenameOptions
	allNamespaces  bool
	labelSelector  string
	fieldSelector  string
	chunkSize      int64
	unstructured   bool
	requestTimeout time.Duration
}

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	o := options{config: genericclioptions.NewConfigFlags(true)}
	flags := pflag.NewFlagSet("resource-builder", pflag.ContinueOnError)
	addConfigFlags(flags, o.config)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "search all namespaces")
	flags.StringVarP(&o.labelSelector, "selector", "l", "", "only objects whose labels match the `selector`, like app=web,tier!=test")
	flags.StringVar(&o.fieldSelector, "field-selector", "", "only objects whose fields match the `selector`, like status.phase=Running")
	flags.Int64Var(&o.chunkSize, "chunk-size", 500, "ask for at most `n` objects in one request; 0 asks for all of them at once")
	flags.StringArrayVarP(&o.files.Filenames, "filename", "f", nil, "the objects that a `file`, a directory or - (the standard input) names, as they are on the server")
	flags.BoolVarP(&o.files.Recursive, "recursive", "R", false, "with -f: read the directories in a directory, too")
	flags.BoolVar(&o.unstructured, "unstructured", false, "print any kind, from the fields that kinds have in common")
	flags.DurationVar(&o.requestTimeout, "request-timeout", 10*time.Second, "how long to wait for the answer to one request")
	addLogFlag(flags)
	flags.Usage = func() { fmt.Fprint(stdout, usage, flags.FlagUsages()) }

	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return o, err
	}
	o.args = flags.Args()
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return o, fmt.Errorf("%w; see resource-builder --help", err)
	}
	o.config.WithWrapConfigFn(o.restrain)
	return o, nil
}

// addConfigFlags adds three of the flags that ConfigFlags offers, under the
// names that kubectl users know. There are some twenty more.
func addConfigFlags(flags *pflag.FlagSet, config *genericclioptions.ConfigFlags) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(all)
	for name, usage := range map[string]string{
		"kubeconfig": "the kubeconfig `file`; without it $KUBECONFIG, then ~/.kube/config",
		"context":    "the `name` of the kubeconfig context; without it the current one",
		"namespace":  "the `namespace`; without it that of the context",
	} {
		flag := all.Lookup(name)
		flag.Usage = usage
		flags.AddFlag(flag)
	}
}

// addLogFlag adds -v. From 6 on, client-go logs each request.
func addLogFlag(flags *pflag.FlagSet) {
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	v := logging.Lookup("v")
	v.Usage = "log to stderr; 6 shows each request, as with kubectl"
	flags.AddGoFlag(v)
}

// restrain is applied to each configuration that ConfigFlags makes.
func (o options) restrain(config *rest.Config) *rest.Config {
	// A deadline for each request, with all its repetitions: when a busy server
	// asks to come back later, client-go does so up to ten times.
	config.Timeout = o.requestTimeout
	// client-go holds a client to 5 requests a second unless told otherwise.
	// One request after another is restraint enough.
	config.QPS = -1
	return config
}

// check finds what does not make sense before any request is made. The Builder
// notices most of it, too, but later, and it ignores --field-selector with -f.
func (o options) check() error {
	named, mixed := resource.HasNames(o.args)
	fromFile := len(o.files.Filenames) > 0
	_, badLabels := labels.Parse(o.labelSelector)
	_, badFields := fields.ParseSelector(o.fieldSelector)

	switch {
	case len(o.args) == 0 && !fromFile:
		return errors.New("nothing to print: name a TYPE, a TYPE/NAME, or a file with -f")
	case len(o.args) > 0 && fromFile:
		return fmt.Errorf("-f and %q cannot be given together", o.args[0])
	case slices.ContainsFunc(o.files.Filenames, isURL):
		return errors.New("-f reads files only: the Builder would wait for a URL without end; download it first")
	case o.files.Recursive && !fromFile:
		return errors.New("-R is for the directories that -f names")
	case mixed != nil:
		return errors.New("TYPE and TYPE/NAME cannot be given together")
	case named && o.labelSelector+o.fieldSelector != "":
		return errors.New("a name and a selector cannot be given together")
	case named && o.allNamespaces:
		return errors.New("a name and -A cannot be given together: objects in two namespaces may have the same name")
	case badLabels != nil:
		return fmt.Errorf("the label selector %q does not parse: %w", o.labelSelector, badLabels)
	case badFields != nil:
		return fmt.Errorf("the field selector %q does not parse: %w", o.fieldSelector, badFields)
	case o.fieldSelector != "" && fromFile:
		return errors.New("--field-selector and -f cannot be given together: it is the server that compares fields")
	case o.chunkSize < 0:
		return fmt.Errorf("--chunk-size is %d, it must be 0 or more", o.chunkSize)
	case o.requestTimeout <= 0:
		return fmt.Errorf("--request-timeout is %s, it must be more than 0", o.requestTimeout)
	}
	return nil
}

func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}
