package main

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// errReaderGone says that nobody reads the output any more.
var errReaderGone = errors.New("the reader of the output has gone")

// visit prints a sentence for each object and counts them.
//
// The Result calls the function once per object. An Info knows the object's
// name, its RESTMapping, the file it came from, and a client for its type; the
// object itself has been fetched by now, a page of a list at a time. Because
// the Builder was told to continue on errors, one that is returned here does
// not end the visit: it is kept, and Visit returns all of them at the end.
func visit(result *resource.Result, describe func(*unstructured.Unstructured) (string, error), out io.Writer) (found int, err error) {
	err = result.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		if info.Name == "" { // the Builder had nothing to ask the server for
			return fmt.Errorf("an object in %s has no metadata.name, so it cannot be looked up; give it one", info.Source)
		}
		found++
		// Unstructured() in builder.go makes every object one of these.
		sentence, err := describe(info.Object.(*unstructured.Unstructured))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, sentence)
		return outputError(err)
	})
	return found, err
}

// outputError gives a closed pipe a name of its own. A connection to the
// server that breaks can be the same EPIPE, and that one is a failure.
func outputError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE):
		return errReaderGone
	default:
		return fmt.Errorf("writing the list: %w", err)
	}
}
