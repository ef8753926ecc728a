// Package testmanifests gives tests the objects that Kustomize makes.
package testmanifests

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
)

// Objects are what a kustomization or a chart makes.
type Objects []*unstructured.Unstructured

// Kustomize is what `kubectl apply -k` applies. config is the path of the folder config, and folder is one
// in it.
func Kustomize(t testing.TB, config, folder string) []byte {
	t.Helper()
	testprogram.ReadBySomebodyElse(t, config)
	output, err := testprogram.Output(exec.CommandContext(t.Context(), testprogram.Path(t, "KUSTOMIZE"), "build", filepath.Join(config, folder)))
	require.NoError(t, err)
	return output
}

// Dist is what dist.sh prints for a version and a kustomization, with variables for the occasion. stage is the path of
// its folder.
func Dist(t testing.TB, stage, version, kustomization string, variables ...string) ([]byte, error) {
	t.Helper()
	testprogram.Path(t, "KUSTOMIZE") // which the script runs
	script := filepath.Join(stage, "dist.sh")
	testprogram.ReadBySomebodyElse(t, script, filepath.Join(stage, "config"))
	command := exec.CommandContext(t.Context(), "sh", script, version, kustomization)
	command.Env = append(append(os.Environ(), "IMAGE=", "REGION="), variables...)
	return testprogram.Output(command)
}

// Decode decodes the objects of a YAML file.
func Decode(t testing.TB, manifests []byte) Objects {
	t.Helper()
	var all Objects
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096); ; {
		o := &unstructured.Unstructured{}
		err := documents.Decode(o)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, o)
	}
}
