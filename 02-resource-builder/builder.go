package main

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/resource"
)

// newResult hands the arguments and flags to a Builder. Its job is to turn
// arguments into visitors: `pods,nodes` into two lists, `pod/web` into one
// object, a file into a stream of them. So far it has requested only which types
// there are; the objects are fetched during the visit.
func newResult(o *options, args []string) (*resource.Result, error) {
	namespace, given, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("reading the namespace of the context: %w; repair the kubeconfig, or use -n", err)
	}

	return resource.NewBuilder(o.config).
		// Objects are decoded into maps, whatever their kind. See typed.go.
		Unstructured().

		// Where: -n, or that of the context; a file may name another namespace
		// unless -n is given; -A is all of them.
		NamespaceParam(namespace).DefaultNamespace().AllNamespaces(o.allNamespaces).

		// What: a file, or types and names, in pages, filtered by the server.
		FilenameParam(given, &o.files).
		ResourceTypeOrNameArgs(true, args...).
		RequestChunksOf(o.chunkSize).
		LabelSelectorParam(o.labelSelector).
		FieldSelectorParam(o.fieldSelector).

		// How: an object from a file is fetched from the server, a list becomes
		// its items, and one that fails does not keep the others away.
		Latest().
		Flatten().
		ContinueOnError().
		Do(), nil
}
