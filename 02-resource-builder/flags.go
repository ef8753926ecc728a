package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/02-resource-builder/cli"
)

// options are the flags.
type options struct {
	config         *genericclioptions.ConfigFlags
	files          resource.FilenameOptions
	allNamespaces  bool
	labelSelector  string
	fieldSelector  string
	chunkSize      int64
	unstructured   bool
	requestTimeout time.Duration
}

func newCommand() *cobra.Command {
	o := &options{config: genericclioptions.NewConfigFlags(true)}
	command := &cobra.Command{
		Use:   "resource-builder {TYPE[,TYPE...] [NAME...] | TYPE/NAME... | -f FILE|DIRECTORY|-}",
		Short: "Print what objects are currently doing, a sentence each",
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.validate(args); err != nil {
				return cli.UsageError(command, err)
			}
			if !klog.V(1).Enabled() {
				silence()
			}
			o.config.WithWrapConfigFn(o.restrain)
			return run(o, args, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	flags := command.Flags()
	addConfigFlags(flags, o.config)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "search all namespaces")
	flags.StringVarP(&o.labelSelector, "selector", "l", "", "only objects whose labels match the `selector`, like app=web,tier!=test")
	flags.StringVar(&o.fieldSelector, "field-selector", "", "only objects whose fields match the `selector`, like status.phase=Running")
	flags.Int64Var(&o.chunkSize, "chunk-size", 500, "request at most `n` objects at once; 0 requests all of them")
	flags.StringArrayVarP(&o.files.Filenames, "filename", "f", nil, "the objects that a `file`, a directory or - (the standard input) names, as they are on the server")
	flags.BoolVarP(&o.files.Recursive, "recursive", "R", false, "with -f: read the directories in a directory, too")
	flags.BoolVar(&o.unstructured, "unstructured", false, "print any kind, from the fields that kinds have in common")
	flags.DurationVar(&o.requestTimeout, "request-timeout", 10*time.Second, "how long to wait for the answer to one request")
	addLogFlag(flags)
	return command
}

// silence ends the log of client-go, which has many errors that are also returned.
// Once a process: klog's logger must not be set while a request is under way.
var silence = sync.OnceFunc(func() { klog.SetLogger(klog.Logger{}) })

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
func (o *options) restrain(config *rest.Config) *rest.Config {
	// A deadline for each request, with all its repetitions: when a busy server
	// asks to come back later, client-go does so up to ten times. (The List of a typed
	// client, as in stage 1, would leave only a deadline for each repetition.)
	config.Timeout = o.requestTimeout
	// client-go holds a client to 5 requests a second unless told otherwise.
	// One request after another is restraint enough.
	config.QPS = -1
	return config
}

// validate finds what does not make sense before any request is made. The Builder
// notices most of it, too, but later, and it ignores --field-selector with -f.
func (o *options) validate(args []string) error {
	named, mixed := resource.HasNames(args)
	fromFile := len(o.files.Filenames) > 0
	_, badLabels := labels.Parse(o.labelSelector)
	_, badFields := fields.ParseSelector(o.fieldSelector)

	switch {
	case len(args) == 0 && !fromFile:
		return errors.New("nothing to print: name a TYPE, a TYPE/NAME, or a file with -f")
	case len(args) > 0 && fromFile:
		return fmt.Errorf("-f and %q cannot be given together", args[0])
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
