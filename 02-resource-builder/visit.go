package main

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// visit prints a sentence for each object and counts them.
//
// The Result calls the function once per object. An Info knows the object's
// name, its RESTMapping, the file it came from, and a client for its type; the
// object itself has been fetched by now, a page of a list at a time. Because
// the Builder continues on errors, one that is returned here does
// not end the visit: it is kept, and Visit returns all of them at the end.
func visit(result *resource.Result, describe func(*unstructured.Unstructured) (string, error), out io.Writer) (found int, err error) {
	err = result.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		if info.Name == "" { // the Builder had nothing to request
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

// outputError adds what could not be done. When the reader of a pipe has gone, as in
// `resource-builder pods | head -1`, the process has ended of SIGPIPE before.
func outputError(err error) error {
	if err != nil {
		return fmt.Errorf("writing the list: %w", err)
	}
	return nil
}
