package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// TestAgainstARealServer has the objects of the lesson on an API server, with nothing that runs them.
func TestAgainstARealServer(t *testing.T) {
	c := testcluster.Shared(t)
	t.Setenv("KUBECONFIG", c.Kubeconfig)
	t.Setenv("KUBECACHEDIR", t.TempDir()) // discovery's cache must not outlive the server
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "harbour/crd.yaml")...)
	ship := writeFile(t, "ship.yaml", manifest("v1", "Node", "ship"))
	c.Kubectl(t, "create", "--validate=false", "-f", "harbour/boats.yaml", "-f", "lesson/demo.yaml", "-f", ship)
	c.Kubectl(t, "patch", "boat", "gull", "--subresource=status", "--type=merge", "-p", `{"status":{"phase":"Moored"}}`)

	t.Run("a sentence for each object", func(t *testing.T) {
		const (
			demo  = "demo is currently Active"
			ship  = "ship is currently NotReady"
			alone = "alone in namespace demo is currently Pending, with 0 of 1 containers ready"
			web   = "web in namespace demo is currently Unavailable, with 0 of 2 replicas"
		)
		for args, want := range map[string][]string{
			"ns demo":                      {demo},
			"Namespace demo":               {demo},
			"node/ship deploy/web -n=demo": {ship, web},
			"nodes,pods,deploy.apps -A":    {ship, alone, web},
			"pods,deploy -A -l=app=web":    {web},
			"pods":                         {},
		} {
			stdout, stderr := resourceBuilder(t, strings.Fields(args)...)
			assert.Empty(t, stderr, args)
			assert.Equal(t, want, stdout, args)
		}
	})

	t.Run("the objects are those that kubectl finds", func(t *testing.T) {
		for _, args := range []string{"all -A", "boats", "boat/heron node/ship", "clusterroles --chunk-size=7", "-f harbour -f lesson/demo.yaml", "-f lesson/demo.yaml -l app=web"} {
			var want, got []string
			for name := range strings.FieldsSeq(c.Kubectl(t, append([]string{"get", "-o=name"}, strings.Fields(args)...)...)) {
				_, name, _ = strings.Cut(name, "/")
				want = append(want, name)
			}
			stdout, stderr := resourceBuilder(t, append(strings.Fields(args), "--unstructured")...)
			require.Empty(t, stderr, args)
			for _, line := range stdout {
				got = append(got, strings.TrimSuffix(strings.Fields(line)[1], ":"))
			}
			require.NotEmpty(t, got, args)
			assert.Equal(t, want, got, args)
		}
	})

	t.Run("a kind without a sentence does not keep the others away", func(t *testing.T) {
		stdout, stderr := resourceBuilder(t, "boats,nodes,crd,ns", "--field-selector=metadata.name!=default")
		assert.Contains(t, stdout, "ship is currently NotReady")
		assert.Contains(t, stdout, "demo is currently Active")
		assert.Equal(t, []string{
			"unknown type Boat: there is no sentence for it; print its generic fields with --unstructured",
			"unknown type CustomResourceDefinition: there is no sentence for it; print its generic fields with --unstructured",
		}, stderr)
		stdout, stderr = resourceBuilder(t, "boats", "--unstructured")
		assert.Empty(t, stderr)
		assert.Equal(t, []string{"Boat gull in namespace default is currently Moored", "Boat heron in namespace default has neither phase nor conditions"}, stdout)
	})

	t.Run("several documents, some of them bad", func(t *testing.T) {
		mixed := writeFile(t, "mixed.yaml", manifest("v1", "Namespace", "default")+
			manifest("v1", "Namespace", "moon")+
			"---\nhello: world\n"+
			manifest("example.com/v1", "Widget", "w")+
			manifest("v1", "Namespace", "demo"))
		stdout, stderr := resourceBuilder(t, "-f", mixed)
		assert.Equal(t, []string{"default is currently Active", "demo is currently Active"}, stdout)
		slices.Sort(stderr)
		require.Len(t, stderr, 3)
		assert.Contains(t, stderr[0], `namespaces "moon" not found`)
		assert.Contains(t, stderr[1], `no matches for kind "Widget" in version "example.com/v1"`)
		assert.Contains(t, stderr[2], "Object 'Kind' is missing")
	})
}
