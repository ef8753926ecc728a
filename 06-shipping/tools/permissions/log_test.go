package permissions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var operator = Account{"demo", "operator"}

// line is an event of the audit log, with what is said over what is usual.
func line(fields string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1","stage":"ResponseComplete",`+
		`"user":{"username":"system:serviceaccount:demo:operator"},"requestReceivedTimestamp":"2026-01-02T03:04:05.678901Z",%s}`+"\n", fields)
}

const (
	allowed = `"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"why"},"responseStatus":{"code":200},`
	made    = `"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"why"},"responseStatus":{"code":201},`
	forbid  = `"annotations":{"authorization.k8s.io/decision":"forbid","authorization.k8s.io/reason":""},"responseStatus":{"code":403},`
)

// later is a 403 that the authorizer is not to blame for, or not at first.
func later(message string) string {
	return fmt.Sprintf(`"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"why"},"responseStatus":{"code":403,"message":%q,"details":{"name":"settings"}},`, message)
}

const settingsInDemo = `"objectRef":{"resource":"configmaps","namespace":"demo","name":"settings","apiVersion":"v1"}`

func TestEachEventIsWhatTheAuthorizerWasAsked(t *testing.T) {
	once, refused := Use{Allowed: 1, By: "why"}, Use{Refused: 1}
	configMap := func(verb string) Request {
		return Request{Verb: verb, Resource: "configmaps", Namespace: "demo", Name: "settings"}
	}
	get := map[Request]Use{configMap("get"): once}
	const (
		cannotCreate = `configmaps "settings" is forbidden: User "u" cannot create resource "configmaps" in API group "" in the namespace "demo"`
		cannotScale  = `ats.x "settings" is forbidden: User "u" cannot create resource "ats/scale" in API group "x" at the cluster scope`
		anAccount    = `"username":"system:serviceaccount:demo:`
	)
	for name, tc := range map[string]struct {
		event string
		want  map[Request]Use
	}{
		"an object": {allowed + `"verb":"get",` + settingsInDemo, get},
		"a refusal": {forbid + `"verb":"get",` + settingsInDemo, map[Request]Use{configMap("get"): refused}},
		"a subresource of another group": {allowed + `"verb":"update","objectRef":{"resource":"ats","namespace":"demo","name":"a","apiGroup":"x","subresource":"status"}`,
			map[Request]Use{{Verb: "update", Group: "x", Resource: "ats/status", Namespace: "demo", Name: "a"}: once}},
		"a list with a field selector has a name": {allowed + `"verb":"list","requestURI":"/api/v1/namespaces/demo/configmaps?fieldSelector=metadata.name%3Dsettings",` + settingsInDemo,
			map[Request]Use{configMap("list"): once}},
		"a creation has no name, whatever the log says": {made + `"verb":"create",` + settingsInDemo,
			map[Request]Use{{Verb: "create", Resource: "configmaps", Namespace: "demo"}: once}},
		"the creation of a subresource has one": {made + `"verb":"create","objectRef":{"resource":"pods","namespace":"demo","name":"p","subresource":"eviction"}`,
			map[Request]Use{{Verb: "create", Resource: "pods/eviction", Namespace: "demo", Name: "p"}: once}},
		"a path, without what stands behind the question mark": {allowed + `"verb":"get","requestURI":"/openapi/v3/apis/x%2Dy?hash=1"`,
			map[Request]Use{{Verb: "get", Path: "/openapi/v3/apis/x-y"}: once}},
		"an apply that makes its object creates it, by its name": {made + `"verb":"patch",` + settingsInDemo,
			map[Request]Use{configMap("patch"): once, configMap("create"): {Allowed: 1}}},
		"an update that makes its object creates it": {made + `"verb":"update",` + settingsInDemo,
			map[Request]Use{configMap("update"): once, configMap("create"): {Allowed: 1}}},
		"an apply that may not make its object": {later(cannotCreate) + `"verb":"patch",` + settingsInDemo,
			map[Request]Use{configMap("patch"): once, configMap("create"): refused}},
		"the same without a namespace": {
			later(cannotScale) + `"verb":"patch","objectRef":{"resource":"ats","subresource":"scale","apiGroup":"x","name":"settings"}`,
			map[Request]Use{
				{Verb: "patch", Group: "x", Resource: "ats/scale", Name: "settings"}:  once,
				{Verb: "create", Group: "x", Resource: "ats/scale", Name: "settings"}: refused,
			},
		},
		"a 403 of something else than the authorizer": {later(`pods "p" is forbidden: exceeded quota: compute`) + `"verb":"patch",` + settingsInDemo,
			map[Request]Use{configMap("patch"): once}},
		"a refusal to be somebody else": {`"responseStatus":{"code":403,"message":"users \"root\" is forbidden: User \"u\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope","details":{"name":"root"}},"verb":"get",` + settingsInDemo,
			map[Request]Use{{Verb: "impersonate", Resource: "users", Name: "root"}: refused}},
		"a request that never came as far as the authorizer": {`"responseStatus":{"code":429},"verb":"get",` + settingsInDemo, map[Request]Use{}},

		"somebody else": {allowed + `"verb":"get","user":{` + anAccount + `operator2"},` + settingsInDemo, map[Request]Use{}},
		"somebody else who acts as the account": {
			allowed + `"verb":"get","user":{` + anAccount + `admin"},"impersonatedUser":{` + anAccount + `operator"},` + settingsInDemo, get,
		},
		"the account that acts as somebody else": {
			allowed + `"verb":"get","impersonatedUser":{"username":"root"},` + settingsInDemo, map[Request]Use{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := NewLog(operator)
			require.NoError(t, log.Read(strings.NewReader(line(tc.event))))
			assert.Equal(t, tc.want, log.Uses)
			assert.Equal(t, len(tc.want) > 0, log.Requests > 0)
		})
	}
}

func TestAWatchIsOneRequestThoughTheLogHasItTwice(t *testing.T) {
	log := NewLog(operator)
	watch := line(allowed + `"verb":"watch",` + settingsInDemo)
	begins, other := strings.Replace(watch, "ResponseComplete", "ResponseStarted", 1), strings.Replace(watch, `"auditID":"1"`, `"auditID":"2"`, 1)
	get := strings.Replace(watch, `"verb":"watch"`, `"verb":"get"`, 1) // whose client chose the same ID
	require.NoError(t, log.Read(strings.NewReader(begins+get)))
	require.NoError(t, log.Read(strings.NewReader(watch+other)))
	assert.Equal(t, 3, log.Requests)
	assert.Equal(t, 2, log.Uses[Request{Verb: "watch", Resource: "configmaps", Namespace: "demo", Name: "settings"}].Allowed)
}

func TestTheLogKnowsFromWhenToWhenItIs(t *testing.T) {
	log := NewLog(operator)
	events := ""
	for i, second := range []string{"05", "09", "01"} {
		events += strings.NewReplacer("04:05.678901", "04:"+second, `"auditID":"1"`, fmt.Sprintf(`"auditID":"%d"`, i)).Replace(line(allowed + `"verb":"get","requestURI":"/version"`))
	}
	require.NoError(t, log.Read(strings.NewReader(events)))
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 1, 0, time.UTC), log.First)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 9, 0, time.UTC), log.Last)
}

func TestOnlyTheLastEventMayBeHalf(t *testing.T) {
	whole := line(allowed + `"verb":"get",` + settingsInDemo)
	half := whole[:len(whole)/2]
	for name, tc := range map[string]struct{ file, err string }{
		"half an event at the end":     {whole + half, ""},
		"a whole line without its end": {strings.TrimSpace(whole), ""},
		"an empty line":                {"\n" + whole, ""},
		"half an event before others":  {whole + half + "\n" + whole, "event 2: invalid character"},
		"another kind of file":         {`{"kind":"Pod","apiVersion":"v1"}` + "\n", "event 1: not of audit.k8s.io/v1"},
		"another kind of object":       {`{"kind":"Policy","apiVersion":"audit.k8s.io/v1"}` + "\n", "event 1: not of audit.k8s.io/v1"},
		"another kind of event":        {`{"kind":"Event","apiVersion":"events.k8s.io/v1"}` + "\n", "event 1: not of audit.k8s.io/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			log := NewLog(operator)
			err := log.Read(strings.NewReader(tc.file))
			if tc.err != "" {
				assert.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 1, log.Requests)
		})
	}
}
