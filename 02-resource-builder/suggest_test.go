package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

func TestDistance(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want int
	}{
		"the same":                       {"pods", "pods", 0},
		"a letter too many":              {"poods", "pods", 1},
		"a letter too few":               {"pds", "pods", 1},
		"another letter":                 {"podz", "pods", 1},
		"two letters in the wrong order": {"pdos", "pods", 2},
		"nothing in common":              {"abc", "xyz", 3},
		"nothing at all":                 {"", "pods", 4},
		"something for nothing":          {"pods", "", 4},
		"a classic":                      {"kitten", "sitting", 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, distance(tc.a, tc.b))
			assert.Equal(t, tc.want, distance(tc.b, tc.a))
		})
	}
}

// someAPI is what discovery found, and what it did not.
type someAPI struct {
	discovery.ServerResourcesInterface
	failed error
}

func (a someAPI) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	return []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "pods", SingularName: "pod", ShortNames: []string{"po"}},
			{Name: "nodes", SingularName: "node", ShortNames: []string{"no"}},
		}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "deployments", SingularName: "deployment", ShortNames: []string{"deploy"}},
		}},
		{GroupVersion: "metrics.example.com/v1", APIResources: []metav1.APIResource{
			{Name: "nodes", SingularName: "node"},
		}},
	}, a.failed
}

func TestSuggest(t *testing.T) {
	down := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "sea.example.com", Version: "v1"}: errors.New("down")}}
	tests := map[string]struct {
		typed  string
		failed error
		want   string
	}{
		"near the plural":          {"podz", nil, "did you mean pods?"},
		"near the singular":        {"deploymnet", nil, "did you mean deployments.apps?"},
		"near the short name":      {"deplo", nil, "did you mean deployments.apps?"},
		"two groups have it":       {"nodess", nil, "did you mean nodes or nodes.metrics.example.com?"},
		"the wrong group":          {"deployments", nil, "did you mean deployments.apps?"},
		"near nothing":             {"lighthouses", nil, "kubectl api-resources shows all types"},
		"too short to be like any": {"x", nil, "kubectl api-resources shows all types"},
		"nothing":                  {"", nil, "kubectl api-resources shows all types"},
		"a group is out of order":  {"lighthouses", down, "kubectl api-resources shows all types (not all groups of the API could be asked: unable to retrieve the complete list of server APIs: sea.example.com/v1: down)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := errors.New(`the server doesn't have a resource type "` + tc.typed + `"`)
			c := cluster{theServer, someAPI{failed: tc.failed}}
			assert.EqualError(t, c.explain(err), err.Error()+"; "+tc.want)
		})
	}
}
