package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// template renders one argument of a command from an object.
type template func(object map[string]any) (string, error)

// parseTemplates parses the values of --argument. A template without any text adds no argument.
// One that renders as nothing adds an empty one, so that those after it stay where the script
// expects them.
func parseTemplates(texts []string, output string, strict bool) ([]template, error) {
	languages := map[string]func(string, bool) (template, error){"jsonpath": parseJSONPath, "gotemplate": parseGoTemplate}
	parse, known := languages[output]
	if !known {
		return nil, fmt.Errorf("unknown output %q, it can be jsonpath or gotemplate", output)
	}
	var templates []template
	for _, text := range texts {
		if text == "" {
			continue
		}
		parsed, err := parse(text, strict)
		if err != nil {
			return nil, fmt.Errorf("the template %q does not parse: %w; correct --argument, or the language with --output", text, err)
		}
		templates = append(templates, parsed)
	}
	return templates, nil
}

// parseJSONPath has kubectl's evaluator, but not its printer, which shows the whole object in
// its errors: that may be a Secret.
func parseJSONPath(text string, strict bool) (template, error) {
	if _, err := jsonpath.Parse("argument", text); err != nil {
		return nil, err
	}
	return func(object map[string]any) (string, error) {
		// One for each object: it forgets a part of the template while it evaluates a range.
		path := jsonpath.New("argument").AllowMissingKeys(!strict)
		_ = path.Parse(text) // it did above
		return rendered(text, strict, func(out *bytes.Buffer) error { return path.Execute(out, object) })
	}, nil
}

func parseGoTemplate(text string, strict bool) (template, error) {
	printer, err := printers.NewGoTemplatePrinter([]byte(text))
	if err != nil {
		return nil, err
	}
	printer.AllowMissingKeys(!strict)
	return func(object map[string]any) (string, error) {
		text, err := rendered(text, strict, func(out *bytes.Buffer) error {
			return printer.PrintObj(&unstructured.Unstructured{Object: object}, out)
		})
		return strings.ReplaceAll(text, "<no value>", ""), err
	}, nil
}

// missing is what both languages say of an item that is not there.
var missing = regexp.MustCompile(`index out of (bounds|range)|(untyped nil|nil pointer)`)

// rendered is what a template writes. For kubectl, a field that is missing is nothing, and an
// item of a list that is missing is an error. Here all of the template is then nothing.
func rendered(text string, strict bool, write func(*bytes.Buffer) error) (string, error) {
	var out bytes.Buffer
	err := write(&out)
	switch {
	case err == nil:
		return out.String(), nil
	case !strict && missing.MatchString(err.Error()):
		return "", nil
	default:
		return "", fmt.Errorf("rendering the template %q: %w", text, cmp.Or(errors.Unwrap(err), err))
	}
}

// render renders all templates. Of an object of which nothing but the name is known (see
// names.go), what cannot be rendered is empty.
func render(templates []template, object map[string]any, nameOnly bool) ([]string, error) {
	arguments := make([]string, 0, len(templates))
	for _, template := range templates {
		argument, err := template(object)
		if err != nil && !nameOnly {
			return nil, err
		}
		arguments = append(arguments, argument)
	}
	return arguments, nil
}

// quoteLine makes one readable line of a command, whatever is in its arguments.
func quoteLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
		if quoted[i] == `"`+word+`"` && word != "" && !strings.Contains(word, " ") {
			quoted[i] = word
		}
	}
	return strings.Join(quoted, " ")
}
