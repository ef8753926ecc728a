// Package config_test proves that what stands in the folders here can be installed,
// and that it asks for no more than it needs.
package config_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/hacking-a-controller/06-shipping/internal/testcluster"
)

// objects are what a kustomization makes.
type objects []*unstructured.Unstructured

// What a user installs as it is.
var installations = []string{"default", "overlays/ha", "overlays/monitored", "overlays/namespaced"}

func TestEveryKustomizationBuilds(t *testing.T) {
	folders := kustomizations(t)
	assert.Subset(t, folders, append(installations, "crd", "admission", "rbac", "manager", "samples", "metrics-reader", "network-policy"))
	for _, folder := range folders {
		assert.NotEmpty(t, build(t, folder), folder)
	}
}

func TestABrokenKustomizationDoesNotBuild(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: [missing.yaml]\n"), 0o600))
	_, err := kustomize(t, dir)
	require.ErrorContains(t, err, "missing.yaml")
}

// kustomizations are all folders that have one. A component is none by itself.
func kustomizations(t *testing.T) []string {
	t.Helper()
	var folders []string
	require.NoError(t, fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		if filepath.Base(path) == "kustomization.yaml" && filepath.Dir(path) != "prometheus" {
			folders = append(folders, filepath.Dir(path))
		}
		return err
	}))
	return folders
}

// built is what Kustomize has said, by folder: a run takes half a second.
var built = map[string][]byte{}

// build is what `kubectl apply -k` applies. It is decoded anew each time, so a test
// may change it.
func build(t *testing.T, folder string) objects {
	t.Helper()
	if built[folder] == nil {
		output, err := kustomize(t, folder)
		require.NoError(t, err)
		built[folder] = output
	}
	return decode(t, built[folder])
}

func decode(t *testing.T, manifests []byte) objects {
	t.Helper()
	var all objects
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

// readBySomebodyElse names what a program reads that a test runs. go test answers
// from its cache if nothing has changed that the test itself has looked at.
func readBySomebodyElse(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		require.NoError(t, filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = os.ReadFile(path)
			}
			return err
		}))
	}
}

// kustomize runs the version that tools/pinned/kustomize/go.mod names.
func kustomize(t *testing.T, folder string) ([]byte, error) {
	t.Helper()
	readBySomebodyElse(t, ".")
	testcluster.DependOnInputs() // tools/pinned/kustomize is another module
	folder, err := filepath.Abs(folder)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "go", "tool", "kustomize", "build", folder)
	command.Dir = "../../tools/pinned/kustomize"
	command.Env = append(os.Environ(), "GOWORK=off")
	return outputOf(command)
}

// outputOf is what a program prints. If it fails, the error is what it complains of.
func outputOf(command *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	command.Stderr = &stderr
	printed, err := command.Output()
	if err != nil {
		return nil, errors.New(stderr.String())
	}
	return printed, nil
}

// ofKind are the objects of one kind.
func ofKind(all objects, kind string) objects {
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })
}

// of are the objects of one kind, as their Go type.
func of[T any](t *testing.T, all objects, kind string) []T {
	t.Helper()
	var some []T
	for _, o := range ofKind(all, kind) {
		var typed T
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &typed, true))
		some = append(some, typed)
	}
	return some
}

// edit changes all objects of one kind.
func edit[T any](t *testing.T, all objects, kind string, change func(*T)) {
	t.Helper()
	for _, o := range all {
		if o.GetKind() == kind {
			var typed T
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &typed))
			change(&typed)
			var err error
			o.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
			require.NoError(t, err)
		}
	}
}
