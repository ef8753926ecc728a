package observe

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// parseJSONPath knows the language of kubectl -o jsonpath.
func parseJSONPath(text string, strict bool) (template, error) {
	if _, err := jsonpath.Parse("argument", text); err != nil {
		return nil, err
	}
	parts := []string{text}
	if !strict {
		parts = cutActions(text)
	}
	return func(object map[string]any) (string, error) {
		var rendered strings.Builder
		for _, part := range parts {
			if err := renderJSONPath(&rendered, part, object, strict); err != nil {
				return "", fmt.Errorf("rendering the template %q: %w", text, err)
			}
		}
		return rendered.String(), nil
	}, nil
}

// renderJSONPath parses the template anew for each object: a JSONPath forgets a
// part of its template while it runs one with a range in it.
func renderJSONPath(rendered *strings.Builder, text string, object map[string]any, strict bool) error {
	path := jsonpath.New("argument").AllowMissingKeys(!strict)
	if err := path.Parse(text); err != nil {
		return err
	}
	err := path.Execute(rendered, object)
	// AllowMissingKeys is for fields. The third item of two is as missing.
	if err != nil && !strict && strings.Contains(err.Error(), "array index out of bounds") {
		return nil
	}
	return err
}

// action is what stands in braces. There may be braces in its strings.
var action = regexp.MustCompile(`\{(?:[^{}'"\\]|\\.|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*\}`)

// cutActions cuts a{.x}b into a, {.x} and b, so that what is missing leaves the
// rest alone. A range and what is in it belong together.
func cutActions(text string) []string {
	if strings.Contains(text, "range") {
		return []string{text}
	}
	var parts []string
	end := 0
	for _, at := range action.FindAllStringIndex(text, -1) {
		parts = append(parts, text[end:at[0]], text[at[0]:at[1]])
		end = at[1]
	}
	return append(parts, text[end:])
}
