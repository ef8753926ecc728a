package permissions

import (
	"fmt"
	"slices"
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
	with := func(r Request, use Use) map[Request]Use { return map[Request]Use{getPod: once, listPods: once, r: use} }
	for name, tc := range map[string]struct {
		grants []Grant
		uses   map[Request]Use
		want   []string
	}{
		"all was used":     {grants, both(once, once), []string{"used get pods", "used list pods"}},
		"one verb was not": {grants, map[Request]Use{getPod: once}, []string{"used get pods", "not used list pods"}},
		"a name was not": {apart("b", "", []rbacv1.PolicyRule{rule("get", "", "pods", "p", "q")}), map[Request]Use{getPod: once},
			[]string{`used get pods "p"`, `not used get pods "q"`}},
		"a namespace was not": {slices.Concat(apart("b", "demo", []rbacv1.PolicyRule{rule("get", "", "pods")}), apart("b", "other", []rbacv1.PolicyRule{rule("get", "", "pods")})),
			map[Request]Use{getPod: once}, []string{"used get pods", "not used get pods"}},
		"what was refused was not used": {grants, both(once, Use{Refused: 1}),
			[]string{"used get pods", "not used list pods", "missing list pods, granted"}},
		"what was refused only at first was used, and is not missing": {grants, both(once, Use{Allowed: 4, Refused: 1}),
			[]string{"used get pods", "used list pods", "early list pods, granted"}},
		"what was refused for one object, and allowed for another by the same rule": {grants, with(Request{Verb: "get", Resource: "pods", Namespace: "demo", Name: "q"}, Use{Refused: 1}),
			[]string{"used get pods", "used list pods", "early get pods q, granted"}},
		"a refusal":                         {grants, with(getSecret, Use{Refused: 2}), []string{"used get pods", "used list pods", "missing get secrets s"}},
		"used by the grace of another rule": {grants, with(getSecret, once), []string{"used get pods", "used list pods", "missing get secrets s"}},
		"a star is never used in full":      {[]Grant{{Rule: rule("*", "", "pods")}}, both(once, once), []string{"not used * pods"}},
		"what everybody may needs no grant": {grants, with(version, Use{Allowed: 2}), []string{"used get pods", "used list pods", "2 by everybody"}},
		"so does a review":                  {grants, with(review, Use{Allowed: 3}), []string{"used get pods", "used list pods", "3 by everybody"}},
		"what everybody may, refused":       {grants, with(version, Use{Refused: 1}), []string{"used get pods", "used list pods", "missing get /version"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := Compare(tc.grants, tc.uses)
			assert.Equal(t, tc.want, findings(report))
			exact := !strings.Contains(fmt.Sprint(tc.want), "not used ") && !strings.Contains(fmt.Sprint(tc.want), "missing ")
			assert.Equal(t, exact, report.Exact())
		})
	}
}

// findings are what a report has, a finding each.
func findings(r Report) (all []string) {
	grants := func(what string, findings []Finding) {
		for _, f := range findings {
			all = append(all, what+f.Rule.Verbs[0]+" "+f.what())
		}
	}
	requests := func(what string, missing []Missing) {
		for _, m := range missing {
			text := strings.TrimSpace(what + m.Verb + " " + m.what() + " " + m.Name)
			if m.Granted {
				text += ", granted"
			}
			all = append(all, text)
		}
	}
	grants("used ", r.Used)
	grants("not used ", r.Unused)
	requests("missing ", r.Missing)
	requests("early ", r.Early)
	if r.Everybody > 0 {
		all = append(all, fmt.Sprint(r.Everybody, " by everybody"))
	}
	return all
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
		{Verb: "get", Resource: "pods", Namespace: "other", Name: "p"}:                                         {Refused: 1},
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
    get   pods "p"   refused 3 times in demo, other, though these rules allow it; were they in force by then?

The rules are not what was used: take away what was not used, or let the log show its use; grant what was missing, or do not ask for it.
`, out.String())

	out.Reset()
	Compare(grants[:1], map[Request]Use{{Verb: "create", Resource: "pods", Namespace: "a"}: {Allowed: 1}}).Write(&out, log)
	assert.NotContains(t, out.String(), "everybody")
	assert.True(t, strings.HasSuffix(out.String(), "\nThe rules grant what was used, and nothing else.\n"), out.String())
}
