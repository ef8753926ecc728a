package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/hacking-a-controller/testcluster"
)

// TestRBAC runs the program with the rules of rbac.yaml. With all of them all goes well; with any one
// verb less, the server refuses just that.
func TestRBAC(t *testing.T) {
	rules := manifest(t)
	t.Run("with all rules", func(t *testing.T) {
		t.Parallel()
		e := needsEverything(t, "whole", rules)
		e.start()
		e.becomes(map[string]string{"harbour/changed": "new", "harbour/new": "old", "harbour/taken": "mine foreign", "event harbour/taken": "NameCollision"})
		assert.Empty(t, e.denied())
	})
	for i, rule := range rules {
		for _, verb := range rule.Verbs {
			resource := rule.Resources[0]
			t.Run("without "+verb+" "+resource, func(t *testing.T) {
				t.Parallel()
				less := slices.Clone(rules)
				less[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
				less = slices.DeleteFunc(less, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
				e := needsEverything(t, verb+"-"+resource, less)
				stop := e.start()
				require.Eventually(t, func() bool { return len(e.denied()) > 0 }, testcluster.TestTimeout, 20*time.Millisecond)
				stop()
				assert.Equal(t, []string{verb + " " + resource}, e.denied())
			})
		}
	}
}

// manifest returns the rules of rbac.yaml, which must be those of the account there.
func manifest(t *testing.T) []rbacv1.PolicyRule {
	content, err := os.ReadFile("rbac.yaml")
	require.NoError(t, err)
	documents := strings.Split(string(content), "\n---\n")
	require.Len(t, documents, 4)
	var account corev1.ServiceAccount
	require.NoError(t, yaml.Unmarshal([]byte(documents[1]), &account))
	var binding rbacv1.ClusterRoleBinding
	require.NoError(t, yaml.Unmarshal([]byte(documents[3]), &binding))
	path := filepath.Join(t.TempDir(), "role.yaml")
	require.NoError(t, os.WriteFile(path, []byte(documents[2]), 0o600))
	assert.Contains(t, documents[2], "\n  name: "+binding.RoleRef.Name+"\n")
	assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}}, binding.Subjects)
	return testcluster.Rules(t, path)
}

// needsEverything is an env in which a start needs each verb.
func needsEverything(t *testing.T, name string, rules []rbacv1.PolicyRule) *env {
	e := newEnv(t, name)
	for _, source := range []string{"changed", "gone", "new", "taken"} {
		e.source(source, "old")
	}
	e.namespace("harbour", false)
	e.create("harbour/taken", "mine")
	for _, copied := range []string{"changed", "gone"} {
		source, err := e.client.CoreV1().Secrets(e.options.rules.sourceNamespace).Get(t.Context(), copied, metav1.GetOptions{})
		require.NoError(t, err)
		made := e.options.rules.copyOf(source, e.name+"-harbour", nil)
		e.create("harbour/"+copied, "old", func(s *corev1.Secret) { s.Labels, s.Annotations = made.Labels, made.Annotations })
	}
	e.annotate("harbour", `""`)
	e.set("source/changed", "new")
	e.delete("source/gone")
	e.config = testcluster.Shared(t).User(t, e.name, rules)
	return e
}

var refusal = regexp.MustCompile(`cannot (\w+) resource \\*"(\w+)`)

// denied is what the server refused, as the log has it.
func (e *env) denied() (verbs []string) {
	for _, found := range refusal.FindAllStringSubmatch(e.log.String(), -1) {
		verbs = append(verbs, found[1]+" "+found[2])
	}
	slices.Sort(verbs)
	return slices.Compact(verbs)
}

func TestAnErrorNamesTheRightThatIsMissing(t *testing.T) {
	e := newEnv(t, "jane")
	e.config = testcluster.Shared(t).User(t, e.name, nil)
	require.ErrorContains(t, e.run(t.Context()), `secrets is forbidden: User "`+e.name+`" cannot list resource "secrets" in API group "" at the cluster scope`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.run(ctx), "to be interrupted is no error")
}

func TestSettingsThatDoHarm(t *testing.T) {
	for want, o := range map[string]options{
		"--workers must be at least 1":                            {testRules, 0, 0},
		`--source-namespace "" is not the name`:                   {rules{"example.com/x", ""}, 0, 1},
		`--annotation "bad key" must be a key of your own`:        {rules{"bad key", "secretsync"}, 0, 1},
		`--annotation "k8s.io/x" must be a key of your own`:       {rules{"k8s.io/x", "secretsync"}, 0, 1},
		`--annotation "kubectl.kubernetes.io/last" must be a key`: {rules{"kubectl.kubernetes.io/last", "secretsync"}, 0, 1},
	} {
		require.ErrorContains(t, o.validate(), want)
	}
	require.NoError(t, options{testRules, 0, 1}.validate())
}
