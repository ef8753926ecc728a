package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// printText returns a report that prints one sentence for each change.
func printText(w io.Writer, kind string) func(change) error {
	return func(c change) error {
		sentence := fmt.Sprintf("%s %s %s", c.Type, strings.ToLower(kind), c.Object.GetName())
		if namespace := c.Object.GetNamespace(); namespace != "" {
			sentence += " in namespace " + namespace
		}
		_, err := fmt.Fprintln(w, sentence)
		return outputError(err)
	}
}

// printJSON returns a report that prints each change as one line of JSON, with
// the whole object. The form is that of the watch request itself.
func printJSON(w io.Writer, kind schema.GroupVersionKind) func(change) error {
	encoder := json.NewEncoder(w)
	return func(c change) error {
		// The typed client drops the kind: in Go, the type says it.
		if object, ok := c.Object.(runtime.Object); ok {
			object.GetObjectKind().SetGroupVersionKind(kind)
		}
		return outputError(encoder.Encode(c))
	}
}

func outputError(err error) error {
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}
