package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
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
		want    []cache.ObjectName
	}{
		"nothing":                      {inHarbour, "", nil},
		"only the name":                {inHarbour, "a\r\n  b", []cache.ObjectName{{Namespace: "harbour", Name: "a"}, {Namespace: "harbour", Name: "b"}}},
		"another namespace is ignored": {inHarbour, "coast/a\nharbour/b\n", []cache.ObjectName{{Namespace: "harbour", Name: "b"}}},
		"all namespaces":               {everywhere, "coast/a\nharbour/b\n", []cache.ObjectName{{Namespace: "coast", Name: "a"}, {Namespace: "harbour", Name: "b"}}},
		"no namespaces":                {ofCluster, "a\nb\n", []cache.ObjectName{{Name: "a"}, {Name: "b"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.scope.parseNames(tc.printed)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestNamesThatMakeNoSense(t *testing.T) {
	tests := map[string]struct {
		scope         scope
		printed, want string
	}{
		"a sentence":               {inHarbour, "a\nNo resources found", `--names printed "No resources found"; for services in namespace harbour each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
		"no name":                  {inHarbour, "harbour/", `--names printed "harbour/"; for services in namespace harbour each line must be NAMESPACE/NAME, or NAME where there is one namespace or none`},
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
