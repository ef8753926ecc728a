package observe

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// parseJSONPath knows the language of kubectl -o jsonpath. Unlike kubectl's, a value that is
// missing leaves the rest alone, also in a range: unless strict, each action is run by itself.
func parseJSONPath(text string, strict bool) (template, error) {
	if _, err := jsonpath.Parse("argument", text); err != nil {
		return nil, err
	}
	parts := []part{{text: text}}
	if !strict {
		parts, _ = cutActions(text)
	}
	return func(object map[string]any) (string, error) {
		var rendered strings.Builder
		if err := renderParts(&rendered, parts, object, strict); err != nil {
			return "", fmt.Errorf("rendering the template %q: %w", text, err)
		}
		return rendered.String(), nil
	}, nil
}

// part is some text, an action, or a range: an expression, and what is rendered for each of its values.
type part struct {
	text string
	each []part
}

func renderParts(rendered *strings.Builder, parts []part, object any, strict bool) error {
	for _, p := range parts {
		var err error
		if p.each == nil {
			err = renderJSONPath(rendered, p.text, object, strict)
		} else {
			err = renderRange(rendered, p, object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func renderRange(rendered *strings.Builder, p part, object any) error {
	path := jsonpath.New("range").AllowMissingKeys(true)
	if err := path.Parse(p.text); err != nil {
		return err
	}
	results, err := path.FindResults(object)
	if err != nil && !isOutOfBounds(err) {
		return err
	}
	for _, values := range results {
		for _, value := range values {
			if !value.IsValid() {
				continue
			}
			if err := renderParts(rendered, p.each, value.Interface(), false); err != nil {
				return err
			}
		}
	}
	return nil
}

// renderJSONPath parses the template anew for each object: a JSONPath forgets a
// part of its template while it runs one with a range in it.
func renderJSONPath(rendered *strings.Builder, text string, object any, strict bool) error {
	path := jsonpath.New("argument").AllowMissingKeys(!strict)
	if err := path.Parse(text); err != nil {
		return err
	}
	err := path.Execute(rendered, object)
	if err != nil && !strict && isOutOfBounds(err) {
		return nil
	}
	return err
}

// isOutOfBounds: AllowMissingKeys is for fields. The third item of two is as missing.
func isOutOfBounds(err error) bool { return strings.Contains(err.Error(), "array index out of bounds") }

// action is what stands in braces. There may be braces in its strings.
var action = regexp.MustCompile(`\{(?:[^{}'"\\]|\\.|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*\}`)

var (
	rangeAction = regexp.MustCompile(`^\{\s*range\s+([^\s}].*)\}$`)
	endAction   = regexp.MustCompile(`^\{\s*end\s*\}$`)
)

// cutActions cuts a{.x}b into a, {.x} and b. It returns what comes after the end of a
// range that it has not seen begin.
func cutActions(text string) (parts []part, rest string) {
	for text != "" {
		at := action.FindStringIndex(text)
		if at == nil {
			return append(parts, part{text: text}), ""
		}
		one := text[at[0]:at[1]]
		parts = append(parts, part{text: text[:at[0]]})
		text = text[at[1]:]
		if endAction.MatchString(one) {
			return parts, text
		}
		if begin := rangeAction.FindStringSubmatch(one); begin != nil {
			each, after := cutActions(text)
			parts = append(parts, part{text: "{" + begin[1] + "}", each: append(each, part{})})
			text = after
			continue
		}
		parts = append(parts, part{text: one})
	}
	return parts, ""
}
