package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Read reads a bundle from its folder.
func Read(folder string) (*Bundle, error) {
	content, err := os.ReadFile(filepath.Join(folder, "metadata", "annotations.yaml"))
	if err != nil {
		return nil, fmt.Errorf("%w; give the folder of a bundle", err)
	}
	var metadata struct{ Annotations map[string]string }
	if err := yaml.Unmarshal(content, &metadata); err != nil {
		return nil, fmt.Errorf("reading the annotations of %s: %w", folder, err)
	}
	b := &Bundle{Package: metadata.Annotations[annotation+"package.v1"], Channel: metadata.Annotations[annotation+"channels.v1"]}
	names, err := filepath.Glob(filepath.Join(folder, "manifests", "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		objects, err := readFile(name)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if object.GetKind() != "ClusterServiceVersion" {
				b.Objects = append(b.Objects, object)
			} else if b.CSV == nil {
				b.CSV = object
			} else {
				return nil, errors.New(folder + " has two ClusterServiceVersions; a bundle has one")
			}
		}
	}
	if b.CSV == nil {
		return nil, errors.New(folder + " has no ClusterServiceVersion; make the bundle anew")
	}
	return b, nil
}
