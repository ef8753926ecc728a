package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// execute runs the program for an event. Without one, the header line is all.
func (o *observer) execute(typ eventType, object *unstructured.Unstructured, p program) error {
	arguments, err := o.arguments(object)
	if err != nil {
		return objectError{err}
	}
	environment, err := o.environment(typ, object)
	if err != nil {
		return err
	}
	version := object.GetResourceVersion()
	if version == "" {
		version = "-"
	}
	o.children.header(fmt.Sprintf("%s %s\t%s", typ, version, quoteLine(slices.Concat(p.line, arguments))))
	if !p.given() {
		return nil
	}
	if slices.ContainsFunc(arguments, func(argument string) bool { return strings.Contains(argument, "\x00") }) {
		return objectError{errors.New("a template has rendered a NUL, which no argument can have; leave that field out of --argument")}
	}
	err = o.children.run(p, arguments, environment, func(code int, took time.Duration) { o.metrics.ran(typ, code, took) })
	if err == nil {
		o.failures = 0
	}
	return err
}

// arguments are what a program gets after its own.
func (o *observer) arguments(object *unstructured.Unstructured) ([]string, error) {
	var arguments []string
	if o.scope.namespaced {
		arguments = append(arguments, object.GetNamespace())
	}
	rendered, err := render(o.options.arguments, object.Object, isNameOnly(object))
	return append(append(arguments, object.GetName()), rendered...), err
}

// environment is what a program gets besides the variables of observe.
func (o *observer) environment(typ eventType, object *unstructured.Unstructured) ([]string, error) {
	var environment []string
	if name := o.options.typeVariable; name != "" {
		environment = append(environment, name+"="+string(typ))
	}
	if name := o.options.objectVariable; name != "" {
		text, err := json.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding the object: %w", err)
		}
		environment = append(environment, name+"="+string(text))
	}
	return environment, nil
}
