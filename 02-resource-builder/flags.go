package main

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// options are the flags, besides those of ConfigFlags, which say which cluster.
type options struct {
	files         resource.FilenameOptions
	allNamespaces bool
	labelSelector string
	fieldSelector string
	chunkSize     int64
	unstructured  bool
}

func newCommand(config *genericclioptions.ConfigFlags) *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "resource-builder {TYPE[,TYPE...] [NAME...] | TYPE/NAME... | -f FILE|DIRECTORY|-}",
		Short: "Print what objects are currently doing, a sentence each",
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			if !klog.V(1).Enabled() {
				silence()
			}
			return run(command.Context(), config, &o, args, command.OutOrStdout())
		},
		SilenceErrors: true, // main prints them
		SilenceUsage:  true,
	}
	flags := command.Flags()
	config.Timeout = nil // with a timeout of its own, clientcmd wouldn't look for the service account of a pod
	config.AddFlags(flags)
	timeout := flags.Duration("request-timeout", 10*time.Second, "how long to wait for a request with all its repetitions; 0 waits forever")
	config.WrapConfigFn = func(c *rest.Config) *rest.Config { c.Timeout = *timeout; return c }
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "search all namespaces")
	flags.StringVarP(&o.labelSelector, "selector", "l", "", "only objects whose labels match the `selector`, like app=web,tier!=test")
	flags.StringVar(&o.fieldSelector, "field-selector", "", "only objects whose fields match the `selector`, like status.phase=Running")
	flags.Int64Var(&o.chunkSize, "chunk-size", 500, "request at most `n` objects at once; 0 requests all of them")
	flags.StringArrayVarP(&o.files.Filenames, "filename", "f", nil, "the objects that a `file`, a directory or - (the standard input) names, as they are on the server")
	flags.BoolVarP(&o.files.Recursive, "recursive", "R", false, "with -f: read the directories in a directory, too")
	flags.BoolVar(&o.unstructured, "unstructured", false, "print any kind, from the fields that kinds have in common")
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	flags.AddGoFlag(logging.Lookup("v")) // from 6 on, client-go logs each request
	return command
}

// silence ends the log of client-go, which has many errors that are also returned.
// Once a process: klog's logger must not be set while a request is under way.
var silence = sync.OnceFunc(func() { klog.SetLogger(klog.Logger{}) })

// validate rejects what the Builder ignores, or waits for. It rejects all else that makes no sense itself.
func (o *options) validate() error {
	switch {
	case o.fieldSelector != "" && len(o.files.Filenames) > 0:
		return errors.New("--field-selector and -f can't be given together: only the server compares fields, and only in lists")
	case slices.ContainsFunc(o.files.Filenames, isURL):
		return errors.New("-f reads files only: the Builder would wait for a URL forever; download it first")
	}
	return nil
}

func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}
