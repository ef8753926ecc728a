package main

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"example.com/hacking-a-controller/02-resource-builder/cli"
)

// explainEach takes apart what a visit has put together, errors of lists of
// errors, and explains each. Nothing is reported twice: a hundred objects of an
// unknown type are one thing to repair.
func explainEach(err error, server string) error {
	if err == nil {
		return nil
	}
	var explained []error
	seen := map[string]bool{}
	for _, err := range utilerrors.Flatten(utilerrors.NewAggregate([]error{err})).Errors() {
		err = explain(err, server)
		if !seen[err.Error()] {
			seen[err.Error()] = true
			explained = append(explained, err)
		}
	}
	return errors.Join(explained...)
}

// explain turns an error into a sentence that says what went wrong and what to
// do next. There are three families: the server refused; no answer
// came; or cli-runtime could not make a request of the arguments or the file.
func explain(err error, server string) error {
	switch {
	case apierrors.IsNotFound(err):
		return explainNotFound(err)
	case apierrors.IsBadRequest(err):
		return fmt.Errorf("%w; correct -l or --field-selector (each kind has metadata.name and metadata.namespace, and few more)", err)
	default:
		return explainInput(cli.Explain(err, server))
	}
}

// explainNotFound distinguishes an object that is not there from a type that is
// not. The second happens although discovery found it, for it has a cache.
func explainNotFound(err error) error {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && answer.Status().Details != nil && answer.Status().Details.Name != "" {
		details := answer.Status().Details
		resource := schema.GroupResource{Group: details.Group, Resource: details.Kind}
		return fmt.Errorf("%w; see which there are: resource-builder %s -A --unstructured", err, resource)
	}
	return fmt.Errorf("%w; if the type was removed, discovery's cache still has it: delete ~/.kube/cache/discovery", err)
}

// unavailable adds to the sentence about an unknown type which APIs do not answer. What
// discovery found is cached, and what it did not find, is not.
func unavailable(err error, flags *genericclioptions.ConfigFlags) error {
	if err == nil || !strings.Contains(err.Error(), unknownType) && !strings.Contains(err.Error(), unknownKind) {
		return err
	}
	api, failed := flags.ToDiscoveryClient()
	if failed != nil {
		return err
	}
	_, _, discovered := api.ServerGroupsAndResources()
	return cli.Unavailable(err, discovered)
}

// unknownType is how cli-runtime begins to say it, and unknownKind, of what is in a file.
const (
	unknownType = "the server doesn't have a resource type "
	unknownKind = "no matches for kind "
)

// explainInput is for what cli-runtime itself refuses. These errors have no
// types, only words. Sentences that are complete come by here as well and stay as
// they are.
func explainInput(err error) error {
	// Some bring an advice of their own in a second line.
	line, _, _ := strings.Cut(err.Error(), "\n")
	for _, known := range []struct{ words, next string }{
		{unknownType, "kubectl api-resources shows those that it has"},
		{"error parsing ", "correct the YAML there; what follows it in the file was not read"},
		{"unable to decode ", "each document needs apiVersion, kind and metadata.name"},
		{unknownKind, "correct apiVersion and kind, or install its CustomResourceDefinition first"},
		{"unable to recognize ", "see how the server is with kubectl get --raw /readyz"},
		{"no namespace set on resource ", "set metadata.namespace, or use -n in place of -A"},
		{"recognized file extensions are ", "name the file itself, or search deeper with -R"},
		{"the path ", "correct -f"},
		{"arguments in resource/name form ", "write TYPE/NAME"},
		{"standard input cannot be used ", "write -f - only once"},
	} {
		if strings.Contains(line, known.words) {
			return fmt.Errorf("%s; %s", line, known.next)
		}
	}
	return err
}
