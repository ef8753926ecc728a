package bundle

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Base is what only people know of an operator. They write it into a file.
type Base struct {
	// Package is the operator's name in catalogues, and Channel the series of versions that
	// users subscribe to.
	Package string `json:"package"`
	Channel string `json:"channel"`
	// Icon is a file, beside that of the Base.
	Icon struct {
		File      string `json:"file"`
		MediaType string `json:"mediatype"`
	} `json:"icon"`
	// Samples are files with an object for each kind that the operator owns.
	Samples []string `json:"samples"`
	// LeftOut has a reason for each kind of the manifests that is not in the bundle.
	LeftOut map[string]string `json:"leftOut"`
	// CSV is the ClusterServiceVersion, as far as it does not follow from manifests.
	CSV map[string]any `json:"csv"`

	icon    []byte
	samples Manifests
}

// ReadBase reads a Base and the files that it names.
func ReadBase(path string) (*Base, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := &Base{}
	if err := yaml.UnmarshalStrict(content, b); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if _, ok := b.CSV["spec"].(map[string]any); !ok || b.Package == "" || b.Channel == "" {
		return nil, fmt.Errorf("reading %s: it needs a package, a channel and a csv with a spec", path)
	}
	beside := func(name string) string { return filepath.Join(filepath.Dir(path), name) }
	if b.icon, err = os.ReadFile(beside(b.Icon.File)); err != nil {
		return nil, fmt.Errorf("reading the icon: %w", err)
	}
	for _, name := range b.Samples {
		objects, err := readFile(beside(name))
		if err != nil {
			return nil, fmt.Errorf("reading the samples: %w", err)
		}
		b.samples = append(b.samples, objects...)
	}
	return b, nil
}

func readFile(name string) (Manifests, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	objects, err := ReadManifests(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return objects, nil
}

// csv is a copy, so that each bundle has its own.
func (b *Base) csv() *unstructured.Unstructured {
	csv := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(b.CSV)}
	csv.SetAPIVersion("operators.coreos.com/v1alpha1")
	csv.SetKind("ClusterServiceVersion")
	return csv
}
