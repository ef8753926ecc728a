// Resource-builder prints what objects of a cluster are doing, a sentence each.
//
// It finds them the way kubectl does, with the machinery that kubectl is made
// of. The path is a chain, and each link has its file:
//
//	flags.go         the command line
//	config.go        which cluster, and is it there?
//	builder.go       arguments become a resource.Builder, and that a Result
//	visit.go         the Result visits each object and hands over an Info
//	typed.go         the Info holds a runtime.Object; make it a Go type, and tell
//	unstructured.go  or tell about it without a Go type
//	errors.go        say what to do next when a link fails
//	suggest.go       say which type was probably meant
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/klog/v2"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go leave(signals)

	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// leave ends the program at Ctrl-C. A Builder takes no context, so there is
// nothing to cancel. But a program that only reads leaves nothing undone: it can
// go at any moment, even while it waits for its standard input.
func leave(signals <-chan os.Signal) {
	<-signals
	fmt.Fprintln(os.Stderr, "error: interrupted: the list is not complete")
	os.Exit(1)
}

// run is the program without its process, so that a test can call it. It
// returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	if err != nil {
		return report(stderr, err)
	}
	if !klog.V(1).Enabled() {
		// client-go logs many errors that it also returns. Once is enough.
		klog.SetLogger(klog.Logger{})
	}
	return report(stderr, list(opts, stdout, stderr)...)
}

// report prints the errors and returns the exit code.
func report(stderr io.Writer, errs ...error) (code int) {
	for _, err := range errs {
		if errors.Is(err, errReaderGone) { // `resource-builder pods | head -1` is no failure
			continue
		}
		fmt.Fprintln(stderr, "error:", err)
		code = 1
	}
	return code
}

// list is the whole chain.
func list(o options, stdout, stderr io.Writer) []error {
	cluster, err := connect(o.config)
	if err != nil {
		return []error{err}
	}
	result, err := newResult(o)
	if err != nil {
		return []error{err}
	}

	describe := describeTyped
	if o.unstructured {
		describe = describeUnstructured
	}
	found, err := visit(result, describe, stdout)
	if err == nil && found == 0 {
		fmt.Fprintln(stderr, nothingFound(result, o))
	}
	return cluster.explainEach(err)
}

// nothingFound is what kubectl says, too. The commonest reason is that one is
// in the wrong namespace.
func nothingFound(result *resource.Result, o options) string {
	mapping, err := result.ResourceMapping()
	if err != nil || mapping.Scope.Name() != meta.RESTScopeNameNamespace || o.allNamespaces {
		return "no resources found"
	}
	return "no resources found in this namespace; choose another with -n, or all with -A"
}
