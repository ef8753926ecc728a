package exercise

import (
	"slices"
	"strings"
)

// Suggest returns the end of a sentence about a name that there isn't: which ones it may stand for, or
// else all that there are.
func Suggest(name, kind string, names []string) string {
	var similar, all []string
	for _, other := range names {
		if !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	for _, other := range all {
		if isSimilar(strings.ToLower(name), strings.ToLower(other)) {
			similar = append(similar, other)
		}
	}
	if len(similar) > 0 {
		return "did you mean " + strings.Join(similar, " or ") + "?"
	}
	return kind + " are: " + strings.Join(all, ", ")
}

// isSimilar says whether a slip or two of the fingers make one name of the other, or one begins with the other.
func isSimilar(a, b string) bool {
	if len(a) < 2 {
		return false
	}
	return strings.HasPrefix(b, a) || distance([]rune(a), []rune(b)) <= min(2, len(a)/3)
}

// distance is how many runes have to be put in, taken out or replaced, after Levenshtein.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before, row[j+1] = row[j+1], min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
