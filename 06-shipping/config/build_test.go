// Package config_test proves that what stands in the folders here can be installed,
// and that it asks for no more than it needs.
package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
)

type objects = testmanifests.Objects

// What a user installs as it is.
var installations = []string{"default", "overlays/ha", "overlays/monitored", "overlays/namespaced", "overlays/traced"}

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

// build is what `kubectl apply -k` applies. It is decoded again each time, so a test
// may change it.
func build(t *testing.T, folder string) objects {
	t.Helper()
	if built[folder] == nil {
		built[folder] = testmanifests.Kustomize(t, ".", folder)
	}
	return testmanifests.Decode(t, built[folder])
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
