// Resource-builder prints what objects of a cluster are doing, a sentence each.
//
// It finds them in the way of kubectl, with the library that kubectl is made of.
// The path is a chain, and each link has its file:
//
//	flags.go         the command line
//	config.go        which cluster, and is it there?
//	builder.go       arguments become a resource.Builder, and that a Result
//	visit.go         the Result visits each object and hands over an Info
//	typed.go         the Info holds a runtime.Object; make it a Go type, and describe that
//	unstructured.go  or describe it without a Go type
//	errors.go        what to do next when a link fails
//
// In first/ the whole chain is on one page.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"

	"example.com/hacking-a-controller/02-resource-builder/cli"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go leave(signals)

	os.Exit(cli.Run(context.Background(), newCommand(), os.Args[1:], os.Stdout, os.Stderr))
}

// leave ends the program at Ctrl-C. A Builder takes no context, so there is
// nothing to cancel: https://github.com/kubernetes/cli-runtime/issues/18. But a program
// that only reads leaves nothing undone: it can end at any moment, even while it waits for
// its standard input.
func leave(signals <-chan os.Signal) {
	<-signals
	fmt.Fprintln(os.Stderr, "error: interrupted: the list is not complete")
	os.Exit(1)
}

func run(o *options, args []string, out, errOut io.Writer) error {
	server, err := connect(o.config)
	if err != nil {
		return err
	}
	result, err := newResult(o, args)
	if err != nil {
		return err
	}
	describe := describeTyped
	if o.unstructured {
		describe = describeUnstructured
	}
	found, err := visit(result, describe, out)
	if err == nil && found == 0 {
		fmt.Fprintln(errOut, nothingFound(result, o))
	}
	return unavailable(explainEach(err, server), o.config)
}

// nothingFound is what kubectl prints, too. The commonest reason is that one is
// in the wrong namespace.
func nothingFound(result *resource.Result, o *options) string {
	mapping, err := result.ResourceMapping()
	if err != nil || mapping.Scope.Name() != meta.RESTScopeNameNamespace || o.allNamespaces {
		return "no resources found"
	}
	return "no resources found in this namespace; choose another with -n, or all with -A"
}
