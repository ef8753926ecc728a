package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

var (
	inHarbour  = scope{resource: "services", namespaced: true, namespace: "harbour"}
	everywhere = scope{resource: "services", namespaced: true}
	ofCluster  = scope{resource: "nodes"}
)

func TestParseNames(t *testing.T) {
	tests := map[string]struct {
		scope   scope
		printed string
		want    []key
	}{
		"nothing":                      {inHarbour, "", nil},
		"blank lines":                  {inHarbour, "\n \n\r\n", nil},
		"both":                         {inHarbour, "harbour/a\nharbour/b\n", []key{{namespace: "harbour", name: "a"}, {namespace: "harbour", name: "b"}}},
		"only the name":                {inHarbour, "a\r\n  b", []key{{namespace: "harbour", name: "a"}, {namespace: "harbour", name: "b"}}},
		"another namespace is ignored": {inHarbour, "coast/a\nharbour/b\n", []key{{namespace: "harbour", name: "b"}}},
		"all namespaces":               {everywhere, "coast/a\nharbour/b\n", []key{{namespace: "coast", name: "a"}, {namespace: "harbour", name: "b"}}},
		"no namespaces":                {ofCluster, "a\nb\n", []key{{name: "a"}, {name: "b"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.scope.parseNames(tc.printed)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestAScopeWithoutNamespacesHasNone(t *testing.T) {
	mapping := &meta.RESTMapping{Resource: corev1.SchemeGroupVersion.WithResource("nodes"), Scope: meta.RESTScopeRoot}
	assert.Equal(t, ofCluster, scopeOf(mapping, "harbour"), "the namespace of the kubeconfig does not count")
}

func TestNamesThatMakeNoSense(t *testing.T) {
	tests := map[string]struct {
		scope         scope
		printed, want string
	}{
		"a sentence":               {inHarbour, "a\nNo resources found", `--names printed "No resources found"; for services in namespace harbour each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
		"no name":                  {inHarbour, "harbour/", `--names printed "harbour/"; for services in namespace harbour each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
		"no namespace":             {inHarbour, "/a", `--names printed "/a"; for services in namespace harbour each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
		"too much":                 {everywhere, "a/b/c", `--names printed "a/b/c"; for services each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
		"which namespace":          {everywhere, "a", `--names printed "a"; for services each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
		"a namespace, but no need": {ofCluster, "a/b", `--names printed "a/b"; for nodes each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
		"an empty namespace":       {ofCluster, "/b", `--names printed "/b"; for nodes each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tc.scope.parseNames(tc.printed)
			assert.EqualError(t, err, tc.want)
		})
	}
}
