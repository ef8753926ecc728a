package observe

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// parseJSONPath knows the language of kubectl -o jsonpath, with kubectl's own parser and
// evaluator. Its printer is not used: if it fails, it shows the whole object, and that may be a
// Secret.
//
// For kubectl, a field that is missing renders as nothing, and an item of a list that is missing
// is an error. Here both render as nothing: unless strict, each action is rendered by itself, so
// that a missing value does not take away the others.
func parseJSONPath(text string, strict bool) (template, error) {
	if _, err := jsonpath.Parse("argument", text); err != nil {
		return nil, err
	}
	parts, balanced := cutParts(text)
	return func(object map[string]any) (string, error) {
		var rendered strings.Builder
		err := withoutPanic(func() error {
			if strict || !balanced { // what a range without its end means is left to kubectl
				return newJSONPath(text, !strict).Execute(&rendered, object)
			}
			return renderParts(&rendered, parts, object)
		})
		if err != nil {
			return "", fmt.Errorf("rendering the template %q: %w", text, err)
		}
		return rendered.String(), nil
	}, nil
}

// withoutPanic is for the item of a list that is null, which kubectl's evaluator does not expect.
func withoutPanic(evaluate func() error) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("caught a panic: %v", caught)
		}
	}()
	return evaluate()
}

// newJSONPath is for one object: a JSONPath forgets a part of its template while it evaluates
// one with a range in it. That the text parses was seen before.
func newJSONPath(text string, allowMissing bool) *jsonpath.JSONPath {
	path := jsonpath.New("argument").AllowMissingKeys(allowMissing)
	_ = path.Parse(text)
	return path
}

// part is a path whose values are printed, or a range over them.
type part struct {
	path    path
	isRange bool
	body    []part // of the range
}

func renderParts(rendered io.Writer, parts []part, object any) error {
	for _, p := range parts {
		values, err := p.path.values(object)
		if err == nil && !p.isRange {
			err = jsonpath.New("argument").PrintResults(rendered, values)
		}
		for i := 0; p.isRange && i < len(values) && err == nil; i++ {
			err = renderParts(rendered, p.body, values[i].Interface())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cutParts cuts a{.x}b into a, {.x} and b. It reports whether each range has its end.
func cutParts(text string) (parts []part, balanced bool) {
	parts, _, ended := cutBody(text)
	return parts, !ended
}

// cutBody cuts until the {end} of a range that began before text. It reports whether that
// came; rest is what comes after it.
func cutBody(text string) (parts []part, rest string, ended bool) {
	for text != "" {
		var one path
		one, text = cutPath(text)
		switch one.keyword() {
		case "end":
			return parts, text, true
		case "range":
			p := part{path: path(strings.Replace(string(one), "range", "", 1)), isRange: true}
			if p.body, text, ended = cutBody(text); !ended {
				return nil, "", true // nothing is balanced any more
			}
			parts = append(parts, p)
		default:
			parts = append(parts, part{path: one})
		}
	}
	return parts, "", false
}

// cutPath cuts off the text before the first action, or else that action. An action ends where
// the parser first has a whole one: there may be braces in its strings.
func cutPath(text string) (one path, rest string) {
	end := strings.Index(text, "{")
	if end == 0 {
		for end = 1; end < len(text) && !path(text[:end]).isWhole(); {
			end++
		}
	} else if end < 0 {
		end = len(text)
	}
	return path(text[:end]), text[end:]
}
