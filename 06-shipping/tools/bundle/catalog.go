package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// entry is a version in a channel, and the version that it replaces.
type entry struct {
	Name     string `json:"name"`
	Replaces string `json:"replaces,omitempty"`
}

type property struct {
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// Catalog is a file-based catalogue of the bundles of one operator, the oldest first: one
// package, one channel, and the bundles with all their objects.
//
// Catalogues that are published name an image of each bundle instead. Without one, OLM takes
// the objects from the catalogue, and needs no registry.
func Catalog(bundles []*Bundle) ([]byte, error) {
	if len(bundles) == 0 {
		return nil, errors.New("a catalogue needs a bundle; name its folder")
	}
	latest := bundles[len(bundles)-1]
	icons, _, err := unstructured.NestedSlice(latest.CSV.Object, "spec", "icon")
	if err != nil || len(icons) == 0 {
		return nil, fmt.Errorf("%s has no icon; make the bundle anew", latest.CSV.GetName())
	}
	description, _, _ := unstructured.NestedString(latest.CSV.Object, "spec", "description")
	blobs := []any{map[string]any{
		"schema": "olm.package", "name": latest.Package, "defaultChannel": latest.Channel,
		"description": description, "icon": icons[0],
	}}
	var entries []entry
	for i, b := range bundles {
		if b.Package != latest.Package || b.Channel != latest.Channel {
			return nil, fmt.Errorf("%s is of %s/%s and %s of %s/%s; give bundles of one channel", b.CSV.GetName(), b.Package, b.Channel, latest.CSV.GetName(), latest.Package, latest.Channel)
		}
		replaces, _, _ := unstructured.NestedString(b.CSV.Object, "spec", "replaces")
		if i > 0 && replaces != entries[i-1].Name {
			return nil, fmt.Errorf("%s replaces %q, and %s is before it; give each bundle after the one that it replaces", b.CSV.GetName(), replaces, entries[i-1].Name)
		}
		entries = append(entries, entry{b.CSV.GetName(), replaces})
	}
	blobs = append(blobs, map[string]any{"schema": "olm.channel", "package": latest.Package, "name": latest.Channel, "entries": entries})
	for _, b := range bundles {
		blob, err := b.blob()
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, blob)
	}
	return encodeAll(blobs)
}

// blob is what a catalogue has of a bundle.
func (b *Bundle) blob() (any, error) {
	version, _, _ := unstructured.NestedString(b.CSV.Object, "spec", "version")
	properties := []property{{"olm.package", map[string]any{"packageName": b.Package, "version": version}}}
	crds := b.Objects.ofKind("CustomResourceDefinition")
	for _, crd := range crds {
		gvks, err := served(crd)
		if err != nil {
			return nil, err
		}
		for _, gvk := range gvks {
			properties = append(properties, property{"olm.gvk", map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}})
		}
	}
	for _, object := range slices.Concat(Manifests{b.CSV}, b.Objects) {
		content, err := json.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding the %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		properties = append(properties, property{"olm.bundle.object", map[string]any{"data": content}})
	}
	images, _, _ := unstructured.NestedSlice(b.CSV.Object, "spec", "relatedImages")
	return map[string]any{
		"schema": "olm.bundle", "package": b.Package, "name": b.CSV.GetName(), "image": "",
		"properties": properties, "relatedImages": images,
	}, nil
}

func encodeAll(blobs []any) ([]byte, error) {
	var documents [][]byte
	for _, blob := range blobs {
		content, err := yaml.Marshal(blob)
		if err != nil {
			return nil, fmt.Errorf("encoding the catalogue: %w", err)
		}
		documents = append(documents, content)
	}
	// Without a separator after the header: opm takes what is before one for a blob.
	return append([]byte(header), bytes.Join(documents, []byte("---\n"))...), nil
}
