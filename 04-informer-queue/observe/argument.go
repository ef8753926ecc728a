package observe

import "fmt"

// template renders one argument of a command from an object.
type template func(object map[string]any) (string, error)

// parseTemplates parses the values of --argument. A template without any text
// is none: it adds no argument. One that renders as nothing adds an empty one,
// so that those after it stay where the script expects them.
func parseTemplates(texts []string, output string, strict bool) ([]template, error) {
	parse := parseJSONPath
	if output == "gotemplate" {
		parse = parseGoTemplate
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

// render renders all templates. Of an object of which nothing but the name is
// known (see names.go), what cannot be rendered is empty.
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
