package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// statements hold, for each subject, who says which version.
type statements map[string]map[string][]string

func (s statements) add(subject, version, who string) {
	if s[subject] == nil {
		s[subject] = map[string][]string{}
	}
	if !slices.Contains(s[subject][version], who) {
		s[subject][version] = append(s[subject][version], who)
	}
}

// disagreements returns a sentence for each subject with more than one version.
func (m *modules) disagreements() []string {
	var sentences []string
	for _, subject := range slices.Sorted(maps.Keys(m.said)) {
		versions := m.said[subject]
		if len(versions) < 2 {
			continue
		}
		var parts []string
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			parts = append(parts, version+" in "+abridge(versions[version]))
		}
		sentences = append(sentences, fmt.Sprintf("%s differs: %s; make them one", subject, strings.Join(parts, ", ")))
	}
	return sentences
}

// abridge names the first few, because for the version of Kubernetes the many
// are those that agree.
func abridge(who []string) string {
	const few = 3
	if len(who) <= few {
		return strings.Join(who, " and ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(who[:few], ", "), len(who)-few)
}
