package main

import (
	"fmt"
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
		bad     string // the line that makes no sense
	}{
		"nothing":                      {inHarbour, "", nil, ""},
		"only the name":                {inHarbour, "a\r\n  b", []cache.ObjectName{{Namespace: "harbour", Name: "a"}, {Namespace: "harbour", Name: "b"}}, ""},
		"another namespace is ignored": {inHarbour, "coast/a\nharbour/b\n", []cache.ObjectName{{Namespace: "harbour", Name: "b"}}, ""},
		"all namespaces":               {everywhere, "coast/a\nharbour/b\n", []cache.ObjectName{{Namespace: "coast", Name: "a"}, {Namespace: "harbour", Name: "b"}}, ""},
		"no namespaces":                {ofCluster, "a\nb\n", []cache.ObjectName{{Name: "a"}, {Name: "b"}}, ""},
		"a sentence":                   {inHarbour, "a\nNo resources found", nil, "No resources found"},
		"no name":                      {inHarbour, "harbour/", nil, "harbour/"},
		"which namespace":              {everywhere, "a", nil, "a"},
		"a namespace, but no need":     {ofCluster, "a/b", nil, "a/b"},
		"an empty namespace":           {ofCluster, "/b", nil, "/b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.scope.parseNames(tc.printed)
			assert.Equal(t, tc.want, got)
			if tc.bad == "" {
				require.NoError(t, err)
				return
			}
			assert.EqualError(t, err, fmt.Sprintf("--names printed %q; for %s each line must be NAMESPACE/NAME, or NAME where there is one namespace or none", tc.bad, tc.scope))
		})
	}
}
