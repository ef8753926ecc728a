package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

var unknownTypeError = regexp.MustCompile(`^the server doesn't have a resource type "([^"]*)"$`)

// unknownType returns the TYPE that the RESTMapper did not find. The error has
// no Go type that could be asked for it.
func unknownType(err error) (typed string, ok bool) {
	match := unknownTypeError.FindStringSubmatch(err.Error())
	if match == nil {
		return "", false
	}
	return match[1], true
}

// suggest adds the types that were probably meant. The server has no opinion on
// that, but discovery, which the RESTMapper is made from, has all the names.
func suggest(err error, typed string, api discovery.ServerResourcesInterface) error {
	// A group that could not be asked is an error, and the others are here.
	lists, failed := api.ServerPreferredResources()
	next := "kubectl api-resources shows all types"
	if names := nearest(typed, lists); len(names) > 0 {
		next = "did you mean " + strings.Join(names, " or ") + "?"
	}
	if missing, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](failed); ok {
		next += fmt.Sprintf(" (not all groups of the API could be asked: %v)", missing)
	}
	return fmt.Errorf("%w; %s", err, next)
}

// nearest returns the resources with a name at most two letters away from the
// typed one (one when that is short), and of these only the nearest. A resource
// has several names: deployments, deployment, deploy.
func nearest(typed string, lists []*metav1.APIResourceList) []string {
	best, names := min(2, len(typed)/2), []string(nil)
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range list.APIResources {
			for _, name := range append(resource.ShortNames, resource.Name, resource.SingularName) {
				distance := distance(typed, name)
				if distance < best {
					best, names = distance, nil
				}
				if full := version.WithResource(resource.Name).GroupResource().String(); distance == best && !slices.Contains(names, full) {
					names = append(names, full)
				}
			}
		}
	}
	return names
}

// distance is how many letters must be put in, left out or replaced to make one
// word the other (Levenshtein). Each round of the loop over a computes how far
// its beginning is from every beginning of b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
