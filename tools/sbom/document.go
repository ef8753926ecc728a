package main

import (
	"cmp"
	"slices"
)

// document is what this command needs of CycloneDX 1.6.
type document struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// newDocument describes an archive by its components. The same archive gives the same bytes.
func newDocument(name, version string, components []component) document {
	slices.SortFunc(components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	return document{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{component{Type: "application", Ref: name, Name: name, Version: version}},
		Components: components,
	}
}

// packaged is a component that its package URL identifies.
func packaged(kind, name, version, purl string) component {
	return component{Type: kind, Ref: purl, Name: name, Version: version, PURL: purl}
}
