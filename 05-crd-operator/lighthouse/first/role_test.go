//go:build !try

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/hacking-a-controller/testcluster"
)

// requests are what the operator sends to the API server, and why. TestTheProgram runs it with its role.
var requests = map[string]map[string]string{
	"lighthouses.coast.example.com":            {"list": "its cache begins with a list", "watch": "the cache is kept up to date"},
	"lighthouses/status.coast.example.com":     {"update": "report writes the status"},
	"lighthouses/finalizers.coast.example.com": {"update": "an owner reference that blocks the deletion of its owner takes this right, where the API server is told to check"},
	"deployments.apps":                         {"list": "Owns needs a cache, too", "watch": "a change of a Deployment is to be noticed", "create": "CreateOrUpdate creates", "update": "CreateOrUpdate updates"},
}

func TestTheRoleIsExactlyWhatIsUsed(t *testing.T) {
	places := map[string]map[string][]string{"the markers": granted(markers(t)), "role.yaml": granted(testcluster.Rules(t, "role.yaml"))}
	for resource, verbs := range requests {
		t.Run(strings.ReplaceAll(resource, "/", " "), func(t *testing.T) {
			for place, grants := range places {
				for verb, why := range verbs {
					assert.Contains(t, grants[resource], verb, "%s: %s of %s is missing: %s", place, verb, resource, why)
				}
				for _, verb := range grants[resource] {
					assert.Contains(t, verbs, verb, "%s: the operator never sends %s of %s", place, verb, resource)
				}
			}
		})
	}
	t.Run("nothing else", func(t *testing.T) {
		for place, grants := range places {
			for resource := range grants {
				assert.Contains(t, requests, resource, "%s: the operator sends no request for %s", place, resource)
			}
		}
	})
}

// granted returns the verbs of each resource.
func granted(rules []rbacv1.PolicyRule) map[string][]string {
	grants := map[string][]string{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				key := resource + "." + group
				grants[key] = append(grants[key], rule.Verbs...)
			}
		}
	}
	return grants
}

var marker = regexp.MustCompile(`(?m)^// \+kubebuilder:rbac:groups=(\S+),resources=(\S+),verbs=(\S+)$`)

// markers are the rules in main.go.
func markers(t *testing.T) (rules []rbacv1.PolicyRule) {
	t.Helper()
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	for _, found := range marker.FindAllStringSubmatch(string(program), -1) {
		list := func(i int) []string { return strings.Split(strings.Trim(found[i], `"`), ";") }
		rules = append(rules, rbacv1.PolicyRule{APIGroups: list(1), Resources: list(2), Verbs: list(3)})
	}
	return rules
}
