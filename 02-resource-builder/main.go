// Resource-builder prints what objects of a cluster are doing, a sentence each.
//
// It is the program in first/ for any type, with the flags of kubectl get:
//
//	main.go          the arguments become a resource.Builder, and that a Result, which visits each object
//	flags.go         the command line
//	typed.go         an object becomes a Go type, and that a sentence
//	unstructured.go  or a sentence without a Go type
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Which cluster, and as whom: the flags of kubectl say it, or else the kubeconfig.
	err := newCommand(genericclioptions.NewConfigFlags(true)).ExecuteContext(ctx)
	for _, err := range causes(err) {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

func run(ctx context.Context, config *genericclioptions.ConfigFlags, o *options, args []string, out io.Writer) error {
	// A Builder takes no context, so Ctrl-C ends the process.
	defer context.AfterFunc(ctx, func() { os.Exit(1) })()
	if err := checkServer(config); err != nil {
		return err
	}
	namespace, given, err := config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	result := resource.NewBuilder(config).
		// Maps to decode into, whatever the kind. See typed.go.
		Unstructured().
		// Where: the namespace of -n or of the context, or all. A file may name another one, unless -n is given.
		NamespaceParam(namespace).DefaultNamespace().AllNamespaces(o.allNamespaces).
		FilenameParam(given, &o.files).
		// What a user types after kubectl get.
		ResourceTypeOrNameArgs(true, args...).
		LabelSelectorParam(o.labelSelector).
		FieldSelectorParam(o.fieldSelector).
		RequestChunksOf(o.chunkSize).
		// What a file names is read from the server.
		Latest().
		// A list becomes its items.
		Flatten().
		// An error about one object is kept until the end.
		ContinueOnError().
		Do()
	describe := describeTyped
	if o.unstructured {
		describe = describeUnstructured
	}
	return result.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		if info.Name == "" { // so nothing was read, and this is still the object of the file
			return fmt.Errorf("an object in %s has no metadata.name", info.Source)
		}
		sentence, err := describe(info.Object.(*unstructured.Unstructured)) // Unstructured() makes every object one of these
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, sentence)
		return err
	})
}

// checkServer fails at once if there's no server. The Builder needs discovery in several places, and would wait for
// a dead server in each.
//
// This rarely makes a request: config caches discovery on disk for six hours, where kubectl does so, too.
func checkServer(config *genericclioptions.ConfigFlags) error {
	api, err := config.ToDiscoveryClient()
	if err != nil {
		return err
	}
	_, err = api.ServerGroups()
	return err
}

// causes takes apart what a visit returns, errors of lists of errors. It drops repetitions: a hundred objects of
// an unknown type are one thing to fix.
func causes(err error) []error {
	if err == nil {
		return nil
	}
	var each []error
	seen := sets.New[string]()
	for _, err := range utilerrors.Flatten(utilerrors.NewAggregate([]error{err})).Errors() {
		if !seen.Has(err.Error()) {
			seen.Insert(err.Error())
			each = append(each, err)
		}
	}
	return each
}
