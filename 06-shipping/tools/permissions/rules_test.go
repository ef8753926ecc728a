package permissions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// object is a manifest with what all of them have.
func object(kind, namespace, name, rest string) string {
	text := "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n"
	if namespace != "" {
		text += "  namespace: " + namespace + "\n"
	}
	return text + rest + "\n"
}

const (
	getPods    = `rules: [{verbs: [get], apiGroups: [""], resources: [pods]}]`
	toOperator = `subjects: [{kind: ServiceAccount, namespace: demo, name: operator}]`
)

// binding binds a role to subjects.
func binding(namespace, role, subjects string) string {
	kind, of := "ClusterRoleBinding", "ClusterRole"
	if namespace != "" {
		kind = "RoleBinding"
	}
	if strings.HasPrefix(role, "local") {
		of = "Role"
	}
	return object(kind, namespace, "b", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: "+of+", name: "+role+"}\n"+subjects)
}

func TestWhoIsBoundToWhat(t *testing.T) {
	clusterRole := object("ClusterRole", "", "r", getPods)
	role := object("Role", "demo", "local", getPods)
	for name, tc := range map[string]struct{ manifests, want string }{
		"a ClusterRoleBinding":                   {clusterRole + binding("", "r", toOperator), `ClusterRoleBinding "b" of ClusterRole "r"; : get pods`},
		"a RoleBinding of a ClusterRole":         {clusterRole + binding("other", "r", toOperator), `RoleBinding "b" of ClusterRole "r"; other: get pods`},
		"a RoleBinding of a Role":                {role + binding("demo", "local", toOperator), `RoleBinding "b" of Role "local"; demo: get pods`},
		"the binding may come first":             {binding("demo", "local", toOperator) + role, `RoleBinding "b" of Role "local"; demo: get pods`},
		"a subject in the binding's namespace":   {role + binding("demo", "local", `subjects: [{kind: ServiceAccount, name: operator}]`), `RoleBinding "b" of Role "local"; demo: get pods`},
		"a user by the account's name":           {clusterRole + binding("", "r", `subjects: [{kind: User, name: "system:serviceaccount:demo:operator"}]`), `ClusterRoleBinding "b" of ClusterRole "r"; : get pods`},
		"the group of all accounts":              {clusterRole + binding("", "r", `subjects: [{kind: Group, name: "system:serviceaccounts"}]`), `ClusterRoleBinding "b" of ClusterRole "r"; : get pods`},
		"the group of the namespace's accounts":  {clusterRole + binding("", "r", `subjects: [{kind: Group, name: "system:serviceaccounts:demo"}]`), `ClusterRoleBinding "b" of ClusterRole "r"; : get pods`},
		"one of many subjects":                   {clusterRole + binding("", "r", `subjects: [{kind: User, name: jane}, {kind: ServiceAccount, namespace: demo, name: operator}]`), `ClusterRoleBinding "b" of ClusterRole "r"; : get pods`},
		"another account":                        {clusterRole + binding("", "r", `subjects: [{kind: ServiceAccount, namespace: demo, name: other}]`), ""},
		"an account of another namespace":        {clusterRole + binding("demo", "r", `subjects: [{kind: ServiceAccount, namespace: other, name: operator}]`), ""},
		"a group of others":                      {clusterRole + binding("", "r", `subjects: [{kind: Group, name: "system:serviceaccounts:other"}]`), ""},
		"a binding that the cluster itself made": {clusterRole + strings.Replace(binding("", "r", toOperator), "  name: b", "  name: b\n  labels: {kubernetes.io/bootstrapping: rbac-defaults}", 1), ""},
		"other objects are passed over":          {"kind: Role\napiVersion: example.com/v1\nrules: 7\n" + clusterRole + "---\n# nothing\n" + binding("", "r", toOperator), `ClusterRoleBinding "b" of ClusterRole "r"; : get pods`},
		"a role of other roles, as the cluster has it": {object("ClusterRole", "", "r", "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\n"+getPods) + binding("", "r", toOperator),
			`ClusterRoleBinding "b" of ClusterRole "r"; : get pods`},
		"a list, as kubectl get prints it": {
			`{"apiVersion":"v1","kind":"List","items":[
			  {"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]},
			  {"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"ServiceAccount","namespace":"demo","name":"operator"}]}]}`,
			`ClusterRoleBinding "b" of ClusterRole "r"; : get pods`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var rules Rules
			require.NoError(t, rules.Read(strings.NewReader(tc.manifests)))
			grants, err := rules.Of(operator)
			require.NoError(t, err)
			got := ""
			for _, g := range grants {
				got += g.Binding + "; " + g.Namespace + ": " + g.Rule.Verbs[0] + " " + g.what()
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestManifestsThatCannotBeJudged(t *testing.T) {
	for name, tc := range map[string]struct{ manifests, want string }{
		"a role that is not there":          {binding("", "view", toOperator), `ClusterRoleBinding "b" of ClusterRole "view" is there, but its role is not`},
		"a Role of another namespace":       {object("Role", "other", "local", getPods) + binding("demo", "local", toOperator), "but its role is not"},
		"a ClusterRole is not a Role":       {object("ClusterRole", "", "local", getPods) + binding("demo", "local", toOperator), "but its role is not"},
		"a role twice":                      {object("ClusterRole", "", "r", getPods) + object("ClusterRole", "", "r", getPods), "the ClusterRole r is there twice"},
		"a role of other roles":             {object("ClusterRole", "", "r", "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\nrules: []"), "kubectl get clusterrole r -o yaml"},
		"a Role without a namespace":        {object("Role", "", "local", getPods), "the Role local names no namespace"},
		"a RoleBinding without a namespace": {strings.Replace(binding("demo", "local", toOperator), "  namespace: demo\n", "", 1), "the RoleBinding b names no namespace"},
		"a ClusterRole with a namespace":    {object("ClusterRole", "demo", "r", getPods), "names a namespace, which it cannot have"},
		"a misspelt field":                  {object("ClusterRole", "", "r", strings.Replace(getPods, "resources", "resource", 1)), `unknown field "resource"`},
		"a misspelt field of a binding":     {binding("", "r", strings.Replace(toOperator, "subjects", "subject", 1)), `unknown field "subject"`},
		"not YAML":                          {"kind: [", "reading an object"},
	} {
		t.Run(name, func(t *testing.T) {
			var rules Rules
			err := rules.Read(strings.NewReader(tc.manifests))
			if err == nil {
				_, err = rules.Of(operator)
			}
			assert.ErrorContains(t, err, tc.want)
		})
	}
}
