// Package testmanifests gives tests the objects that Kustomize makes.
package testmanifests

import (
	"bytes"
	"errors"
	"io"
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
func Kustomize(t testing.TB, config, folder string) ([]byte, error) {
	t.Helper()
	testprogram.ReadBySomebodyElse(t, config)
	return KustomizeFolder(t, filepath.Join(config, folder))
}

// KustomizeFolder is the same of any folder.
func KustomizeFolder(t testing.TB, folder string) ([]byte, error) {
	t.Helper()
	return testprogram.Output(exec.CommandContext(t.Context(), testprogram.Path(t, "KUSTOMIZE"), "build", folder))
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
