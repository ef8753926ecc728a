// Package chart tests what the chart grants.
package chart

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// tooMuch are the verbs, resources and groups that make a thief of the token mighty.
var tooMuch = []string{"*", "bind", "escalate", "impersonate", "secrets", "pods", "serviceaccounts/token", "apps", "batch", rbacv1.GroupName}

func TestNoRightIsTooMuch(t *testing.T) {
	content, err := os.ReadFile("values.yaml")
	require.NoError(t, err)
	var values struct{ Rules []rbacv1.PolicyRule }
	require.NoError(t, yaml.Unmarshal(content, &values))
	require.NotEmpty(t, values.Rules)
	for _, rule := range values.Rules {
		for _, word := range slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups) {
			assert.NotContains(t, tooMuch, word)
		}
	}
}
