//go:build !try

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"example.com/hacking-a-controller/02-resource-builder/lesson/fakeserver"
)

func TestTheNamespacesArePrinted(t *testing.T) {
	stdout, err := first(t, []map[string]any{active("default"), active("demo")}, "namespaces")
	require.NoError(t, err)
	assert.Equal(t, "default is currently Active\ndemo is currently Active\n", stdout)
}

func TestATypeWithoutACaseIsAnError(t *testing.T) {
	_, err := first(t, []map[string]any{fakeserver.Object("v1", "Pod", "web")}, "pods")
	require.EqualError(t, err, "unknown type *v1.Pod")
}

func TestAServerThatIsNotThereIsAnError(t *testing.T) {
	t.Setenv("KUBECACHEDIR", t.TempDir())
	config := genericclioptions.NewConfigFlags(true)
	config.APIServer = new("http://127.0.0.1:1")
	require.ErrorContains(t, run(t.Context(), config, []string{"namespaces"}, nil), "connection refused")
}
