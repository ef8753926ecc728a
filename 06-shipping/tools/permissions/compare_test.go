package permissions

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
)

var (
	getPod    = Request{Verb: "get", Resource: "pods", Namespace: "demo", Name: "p"}
	listPods  = Request{Verb: "list", Resource: "pods"}
	getSecret = Request{Verb: "get", Resource: "secrets", Namespace: "demo", Name: "s"}
	version   = Request{Verb: "get", Path: "/version"}
	review    = Request{Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}
)

func TestCompare(t *testing.T) {
	grants := apart("b", "", []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"pods"}}})
	both := func(get, list Use) map[Request]Use { return map[Request]Use{getPod: get, listPods: list} }
	once := Use{Allowed: 1}
	for name, tc := range map[string]struct {
		grants []Grant
		uses   map[Request]Use
		// What is found, as verbs and targets.
		used, unused, missing, early []string
		everybody                    int
	}{
		"all was used": {grants: grants, uses: both(once, once), used: []string{"get pods", "list pods"}},
		"one verb was not": {
			grants: grants, uses: map[Request]Use{getPod: once},
			used: []string{"get pods"}, unused: []string{"list pods"},
		},
		"a name was not": {
			grants: apart("b", "", []rbacv1.PolicyRule{rule("get", "", "pods", "p", "q")}), uses: map[Request]Use{getPod: once},
			used: []string{`get pods "p"`}, unused: []string{`get pods "q"`},
		},
		"a namespace was not": {
			grants: append(apart("b", "demo", []rbacv1.PolicyRule{rule("get", "", "pods")}), apart("b", "other", []rbacv1.PolicyRule{rule("get", "", "pods")})...),
			uses:   map[Request]Use{getPod: once},
			used:   []string{"get pods"}, unused: []string{"get pods"},
		},
		"what was refused was not used": {
			grants: grants, uses: both(once, Use{Refused: 1}),
			used: []string{"get pods"}, unused: []string{"list pods"}, missing: []string{"list pods, granted"},
		},
		"what was refused only at first was used, and is not missing": {
			grants: grants, uses: both(once, Use{Allowed: 4, Refused: 1}),
			used: []string{"get pods", "list pods"}, early: []string{"list pods"},
		},
		"what was refused for one object, and allowed for another by the same rule": {
			grants: grants, uses: map[Request]Use{getPod: once, listPods: once, {Verb: "get", Resource: "pods", Namespace: "demo", Name: "q"}: {Refused: 1}},
			used: []string{"get pods", "list pods"}, early: []string{"get pods"},
		},
		"a refusal": {
			grants: grants, uses: map[Request]Use{getPod: once, listPods: once, getSecret: {Refused: 2}},
			used: []string{"get pods", "list pods"}, missing: []string{"get secrets"},
		},
		"used by the grace of another rule": {
			grants: grants, uses: map[Request]Use{getPod: once, listPods: once, getSecret: once},
			used: []string{"get pods", "list pods"}, missing: []string{"get secrets"},
		},
		"a star is never used in full": {
			grants: []Grant{{Rule: rule("*", "", "pods")}}, uses: both(once, once), unused: []string{"* pods"},
		},
		"what everybody may needs no grant": {
			grants: grants, uses: map[Request]Use{getPod: once, listPods: once, version: {Allowed: 2}, review: {Allowed: 3}},
			used: []string{"get pods", "list pods"}, everybody: 5,
		},
		"what everybody may, refused": {
			grants: grants, uses: map[Request]Use{getPod: once, listPods: once, version: {Refused: 1}},
			used: []string{"get pods", "list pods"}, missing: []string{"get /version"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := Compare(tc.grants, tc.uses)
			assert.Equal(t, tc.used, targets(report.Used))
			assert.Equal(t, tc.unused, targets(report.Unused))
			var missing []string
			for _, m := range report.Missing {
				text := m.Verb + " " + m.what()
				if m.Granted {
					text += ", granted"
				}
				missing = append(missing, text)
			}
			assert.Equal(t, tc.missing, missing)
			var early []string
			for _, m := range report.Early {
				assert.True(t, m.Granted)
				early = append(early, m.Verb+" "+m.what())
			}
			assert.Equal(t, tc.early, early)
			assert.Equal(t, tc.everybody, report.Everybody)
			assert.Equal(t, tc.unused == nil && tc.missing == nil, report.Exact())
		})
	}
}

// targets are verbs and what they are for.
func targets(findings []Finding) []string {
	var list []string
	for _, f := range findings {
		list = append(list, f.Rule.Verbs[0]+" "+f.what())
	}
	return list
}

func TestAFindingKnowsWhereItsRequestsWere(t *testing.T) {
	in := func(namespace, name string) Request {
		return Request{Verb: "get", Resource: "pods", Namespace: namespace, Name: name}
	}
	once := Use{Allowed: 1}
	report := Compare([]Grant{{Rule: rule("get", "", "pods")}}, map[Request]Use{
		in("c", "p"): once, in("a", "p"): once, in("d", "p"): once, in("b", "p"): once, in("a", "q"): once, in("refused", "p"): {Refused: 1},
	})
	assert.Equal(t, []string{"a", "b", "c", "d"}, report.Used[0].Namespaces)
	assert.Equal(t, 5, report.Used[0].Times)
}

func TestPlaces(t *testing.T) {
	for want, namespaces := range map[string][]string{
		"cluster-wide":             {"", ""},
		"in a":                     {"a"},
		"in a, b, c":               {"c", "a", "b", "a"},
		"in a, b, c and 1 more":    {"d", "c", "b", "a"},
		"cluster-wide and in a":    {"a", ""},
		"cluster-wide and in a, b": {"b", "", "a"},
	} {
		assert.Equal(t, want, places(namespaces))
	}
}

func TestTheReport(t *testing.T) {
	grants := append(
		apart(`ClusterRoleBinding "operator" of ClusterRole "operator"`, "", []rbacv1.PolicyRule{
			{Verbs: []string{"create", "get", "list"}, APIGroups: []string{""}, Resources: []string{"pods"}},
			{Verbs: []string{"update"}, APIGroups: []string{"example.com"}, Resources: []string{"ats/status"}},
			{Verbs: []string{"*"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}},
		}),
		apart(`RoleBinding "leader" of Role "leader"`, "system", []rbacv1.PolicyRule{rule("get", "coordination.k8s.io", "leases", "operator", "old")})...)
	uses := map[Request]Use{
		listPods: {Allowed: 1},
		version:  {Allowed: 7},
		{Verb: "create", Resource: "nodes", Name: "n"}: {Allowed: 1},
		{Verb: "get", Resource: "secrets"}:             {Refused: 1},
		{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Namespace: "system", Name: "operator"}: {Allowed: 40},
		{Verb: "list", Group: "apps", Resource: "deployments"}:                                                 {Allowed: 2},
		{Verb: "list", Resource: "nodes"}:                                                                      {Allowed: 1, By: `RBAC: allowed by ClusterRoleBinding "view" of ClusterRole "view" to Group "system:serviceaccounts"`},
		getPod:                                                                                                 {Allowed: 1, Refused: 2},
	}
	for _, namespace := range []string{"a", "b", "c", "d", "e"} {
		uses[Request{Verb: "create", Resource: "pods", Namespace: namespace}] = Use{Allowed: 2}
		uses[Request{Verb: "get", Resource: "secrets", Namespace: namespace, Name: "token-" + namespace}] = Use{Refused: 2}
		uses[Request{Verb: "get", Resource: "secrets", Namespace: namespace, Name: "token-a"}] = Use{Refused: 2}
	}
	log := NewLog(operator)
	log.Requests = 1234
	zone := time.FixedZone("an hour ahead", 3600)
	log.First, log.Last = time.Date(2026, 1, 2, 4, 4, 5, 0, zone), time.Date(2026, 1, 2, 4, 14, 5, 0, zone)
	var out strings.Builder
	Compare(grants, uses).Write(&out, log)
	assert.Equal(t, `Service account demo/operator: 1234 requests from 2026-01-02 03:04:05 to 2026-01-02 03:14:05 UTC.
7 requests needed no grant: everybody may do that.

Granted and used: 4
  ClusterRoleBinding "operator" of ClusterRole "operator", cluster-wide
    create   pods   10 times in a, b, c and 2 more
    get      pods   1 time in demo
    list     pods   1 time cluster-wide
  RoleBinding "leader" of Role "leader", in system
    get   leases.coordination.k8s.io "operator"   40 times

Granted and not used: 3
  ClusterRoleBinding "operator" of ClusterRole "operator", cluster-wide
    update   ats.example.com/status
    *        deployments.apps   never in full, for its star: 2 requests
  RoleBinding "leader" of Role "leader", in system
    get   leases.coordination.k8s.io "old"

Missing: 3
    create   nodes "n"                                            allowed 1 time cluster-wide, but by none of these rules
    list     nodes                                                allowed 1 time cluster-wide by ClusterRoleBinding "view" of ClusterRole "view", which is not among these rules
    get      secrets "token-a", "token-b", "token-c" and 2 more   refused 19 times cluster-wide and in a, b, c and 2 more

Refused for a moment, and allowed at other times: 1
    get   pods "p"   refused 2 times in demo, though these rules allow it; were they in force by then?

The rules are not what was used: take away what was not used, or let the log show its use; grant what was missing, or do not ask for it.
`, out.String())

	out.Reset()
	Compare(grants[:1], map[Request]Use{{Verb: "create", Resource: "pods", Namespace: "a"}: {Allowed: 1}}).Write(&out, log)
	assert.NotContains(t, out.String(), "everybody")
	assert.True(t, strings.HasSuffix(out.String(), "\nThe rules grant what was used, and nothing else.\n"), out.String())
}
