package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// replacement names what stands for a module: a folder of the repository, or a module
// with its version.
func replacement(folder string, by module.Version) string {
	if by.Version == "" {
		return path.Join(folder, by.Path)
	}
	return by.String()
}

// missingReplaces returns a sentence for each directive that a module has to repeat. Go
// follows only those of the module that is built, so whoever takes another one from its
// folder has to replace what that one replaces.
func (m *modules) missingReplaces() []string {
	var sentences []string
	for _, folder := range m.folders {
		for _, needed := range slices.Sorted(maps.Values(m.replaces[folder])) {
			for _, old := range slices.Sorted(maps.Keys(m.replaces[needed])) {
				want, got := m.replaces[needed][old], m.replaces[folder][old]
				if got != want {
					sentences = append(sentences, fmt.Sprintf("%s takes %s from its folder, which replaces %s by %s; %s/go.mod has to do so, too", folder, needed, old, strings.TrimPrefix(want, "./"), folder))
				}
			}
		}
	}
	return sentences
}
