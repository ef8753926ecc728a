package proof

import (
	"regexp"
	"slices"
	"strings"
)

// matches reports whether what a block printed is what its page shows, apart from what is different
// in each run. A line ... in the page stands for any number of lines.
func matches(printed, shown string) bool {
	return matchLines(normalized(printed), normalized(shown))
}

func matchLines(printed, shown []string) bool {
	if len(shown) == 0 {
		return len(printed) == 0
	}
	if shown[0] == "..." {
		for i := range len(printed) + 1 {
			if matchLines(printed[i:], shown[1:]) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && printed[0] == shown[0] && matchLines(printed[1:], shown[1:])
}

// These differ from run to run, and become 0. A number of one digit does not: "failures=1" is often
// the very point.
var variable = regexp.MustCompile(strings.Join([]string{
	`\b[0-9a-f]{32,}\b`,                     // a digest
	`\b([0-9]+(\.[0-9]+)?(h|m|s|ms|µs))+\b`, // a duration
	`[0-9][0-9.:TZ-]*[0-9]Z?`,               // a longer number, a time, an address with its port
}, "|"))

// normalized returns the lines of an output in the form in which two runs have the same ones.
// Columns are as wide as they need to be, and Go mentions what it downloads.
func normalized(output string) []string {
	lines := linesOf(output)
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "go: downloading ") })
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(variable.ReplaceAllString(line, "0")), " ")
	}
	return lines
}
