package observe

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// service is what a cache might have.
func service() map[string]any {
	one, two := map[string]any{"n": int64(1)}, map[string]any{"n": int64(2)}
	object := map[string]any{
		"metadata": map[string]any{
			"name":              "web",
			"creationTimestamp": nil,
			"annotations":       map[string]any{"example.com/host": "web.example.com", "empty": "", "odd": "<no value>"},
			"managedFields":     []any{map[string]any{"manager": "kubectl"}},
		},
		"spec": map[string]any{
			"ports":    []any{map[string]any{"port": int64(80), "name": "http"}, map[string]any{"port": int64(443)}},
			"letters":  []any{"a", "b", "c"},
			"none":     []any{},
			"nulls":    []any{nil, map[string]any{"n": int64(1)}},
			"big":      int64(12345678901),
			"whole":    1.0,
			"ratio":    2.5,
			"huge":     1e21,
			"headless": false,
			"word":     "c2VzYW1l",
			"lists":    []any{map[string]any{"items": []any{one, two}}, map[string]any{"items": []any{one}}},
			"selector": map[string]any{"app": "web"},
		},
	}
	removeNulls(object)
	return object
}

func TestTemplates(t *testing.T) {
	tests := map[string]struct {
		output, template, want string
		strict                 string // the error with --strict-templates; empty: the same as without
	}{
		"jsonpath: a field":                   {"jsonpath", "{.metadata.name}", "web", ""},
		"jsonpath: a field inside text":       {"jsonpath", "a {.metadata.name} b", "a web b", ""},
		"jsonpath: no field":                  {"jsonpath", "{.spec.nope}", "", "nope is not found"},
		"jsonpath: no field inside text":      {"jsonpath", "a {.spec.nope.deeper} b", "a  b", "nope is not found"},
		"jsonpath: null":                      {"jsonpath", "a{.metadata.creationTimestamp}b", "ab", "creationTimestamp is not found"},
		"jsonpath: nothing is there":          {"jsonpath", "a{.metadata.annotations.empty}b", "ab", ""},
		"jsonpath: a key with dots":           {"jsonpath", `{.metadata.annotations.example\.com/host}`, "web.example.com", ""},
		"jsonpath: a number":                  {"jsonpath", "{.spec.ports[0].port}", "80", ""},
		"jsonpath: an item that is missing":   {"jsonpath", "a{.spec.ports[7].port}b", "ab", "array index out of bounds"},
		"jsonpath: braces in a string":        {"jsonpath", `a{.spec.ports[?(@.name=="http")].port}{"}{"}{'\'}'}b{.spec.ports[7]}`, "a80}{'}b", "name is not found"},
		"jsonpath: an item of nothing":        {"jsonpath", "a{.spec.nope[0]}b", "ab", "nope is not found"},
		"jsonpath: a list":                    {"jsonpath", `{range .spec.ports[*]}{.port}:{.name},{end}!`, "80:http,443:,!", "name is not found"},
		"jsonpath: an object":                 {"jsonpath", "{.spec.selector}", `{"app":"web"}`, ""},
		"jsonpath: no field at all":           {"jsonpath", "just text", "just text", ""},
		"jsonpath: missing in a range":        {"jsonpath", `a{range .spec.ports[*]}{.port}{.names[3]},{.name}{"\n"}{end}b`, "a80,http\n443,\nb", "names is not found"},
		"jsonpath: missing before a range":    {"jsonpath", `{.spec.ports[7]}a{range .spec.ports[*]}{.port},{end}b`, "a80,443,b", "array index out of bounds"},
		"jsonpath: a range over nothing":      {"jsonpath", `a{range .spec.nope[*]}{.port},{end}b`, "ab", "nope is not found"},
		"jsonpath: a range over an item":      {"jsonpath", `a{range .spec.ports[7]}{.port},{end}b`, "ab", "array index out of bounds"},
		"jsonpath: a range in a range":        {"jsonpath", `{range .spec.lists[*]}[{range .items[*]}{.n}{.x[1]};{end}]{end}!`, "[1;2;][1;]!", "x is not found"},
		"jsonpath: an item of some":           {"jsonpath", `{.spec.lists[*].items[1].n}`, "2", "array index out of bounds"},
		"jsonpath: a filter on an item":       {"jsonpath", `{.spec.lists[?(@.items[1].n==2)].items[*].n}{"[0]"}`, "1 2[0]", "array index out of bounds"},
		"jsonpath: one of two items":          {"jsonpath", `{.spec.letters[7, 0]}{$['spec'].letters[9]}`, "a", "array index out of bounds"},
		"jsonpath: a slice that is shorter":   {"jsonpath", `{.spec.letters[1:7]}{.spec.letters[0:7:2]}`, "b ca c", "array index out of bounds"},
		"jsonpath: a range with some missing": {"jsonpath", `{range .spec.lists[0,5]}{.items[0].n}{end}!`, "1!", "array index out of bounds"},
		"jsonpath: range without a space":     {"jsonpath", `{range.spec.ports[*]}{.port}{.x[3]},{end}`, "80,443,", "x is not found"},
		"gotemplate: slice":                   {"gotemplate", `a{{slice .spec.nope 1}}{{slice .spec.letters 7}}b`, "ab", `map has no entry for key "nope"`},
		"gotemplate: less than nothing":       {"gotemplate", `{{if gt .spec.nope 3}}yes{{else}}no{{end}}{{lt (index .spec.letters 9) "b"}}`, "nofalse", `map has no entry for key "nope"`},
		"gotemplate: nothing is written":      {"gotemplate", `{{html .spec.nope "<"}}{{printf "%s:%s" .spec.nope .spec.word}}{{print .spec.nope}}`, "&lt;:c2VzYW1l", `map has no entry for key "nope"`},
		"gotemplate: base64decode":            {"gotemplate", `{{.spec.word | base64decode}}`, "sesame", ""},
		"gotemplate: nothing to decode":       {"gotemplate", `a{{.spec.nope | base64decode}}b`, "ab", `map has no entry for key "nope"`},
		"gotemplate: exists":                  {"gotemplate", `{{exists .spec "ports" 1 "port"}} {{exists .spec "ports" 2}} {{exists .spec "nope"}}`, "true false false", ""},
		"gotemplate: the length of nothing":   {"gotemplate", `a{{len .spec.nope}}b{{len .spec.ports}}`, "a0b2", `map has no entry for key "nope"`},
		"gotemplate: a field":                 {"gotemplate", "{{.metadata.name}}", "web", ""},
		"gotemplate: a field inside text":     {"gotemplate", "a {{.metadata.name}} b", "a web b", ""},
		"gotemplate: no field":                {"gotemplate", "{{.spec.nope}}", "", `map has no entry for key "nope"`},
		"gotemplate: no field inside text":    {"gotemplate", "a {{.spec.nope.deeper}} b", "a  b", `map has no entry for key "nope"`},
		"gotemplate: null":                    {"gotemplate", "a{{.metadata.creationTimestamp}}b", "ab", `map has no entry for key "creationTimestamp"`},
		"gotemplate: false is a value":        {"gotemplate", "{{.spec.headless}}", "false", ""},
		"gotemplate: no value is a value":     {"gotemplate", "{{.metadata.annotations.odd}}", "<no value>", ""},
		"gotemplate: a key with dots":         {"gotemplate", `{{index .metadata.annotations "example.com/host"}}`, "web.example.com", ""},
		"gotemplate: no such key":             {"gotemplate", `a{{index .metadata.annotations "nope"}}b`, "ab", "there is no nope"},
		"gotemplate: no such map":             {"gotemplate", `a{{index .metadata.labels "nope" 3 "deeper"}}b`, "ab", `map has no entry for key "labels"`},
		"gotemplate: an item":                 {"gotemplate", `{{(index .spec.ports 1).port}}`, "443", ""},
		"gotemplate: an item that is missing": {"gotemplate", `a{{(index .spec.ports 7).port}}b`, "ab", "there is no 7"},
		"gotemplate: a list":                  {"gotemplate", `{{range .spec.ports}}{{.port}}:{{.name}},{{end}}!`, "80:http,443:,!", `map has no entry for key "name"`},
		"gotemplate: a branch":                {"gotemplate", `{{if .spec.headless}}yes{{else}}no{{.spec.nope}}{{end}}`, "no", `map has no entry for key "nope"`},
		"gotemplate: with a variable":         {"gotemplate", `{{with $x := .spec}}{{$x.nope}}{{$y := .ports}}{{len $y}}{{end}}`, "2", `map has no entry for key "nope"`},
		"gotemplate: a template in another":   {"gotemplate", `{{define "t"}}<{{.nope}}>{{end}}{{template "t" .spec}}`, "<>", `map has no entry for key "nope"`},
		"gotemplate: piped":                   {"gotemplate", `{{.metadata.name | printf "%q"}}`, `"web"`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			templates, err := parseTemplates([]string{tc.template}, tc.output, false)
			require.NoError(t, err)
			// Twice, because each object gets the same template.
			for range 2 {
				got, err := render(templates, service(), false)
				require.NoError(t, err)
				assert.Equal(t, []string{tc.want}, got)
			}

			strict, err := parseTemplates([]string{tc.template}, tc.output, true)
			require.NoError(t, err)
			got, err := render(strict, service(), false)
			if tc.strict == "" {
				require.NoError(t, err)
				assert.Equal(t, []string{tc.want}, got)
				return
			}
			require.ErrorContains(t, err, tc.strict)
		})
	}
}

func TestAnEmptyTemplateIsNoArgumentAndAnEmptyValueIsOne(t *testing.T) {
	for output, missing := range map[string]string{"jsonpath": "{.nope}", "gotemplate": "{{.nope}}"} {
		templates, err := parseTemplates([]string{"first", "", missing, "last"}, output, false)
		require.NoError(t, err)
		got, err := render(templates, service(), false)
		require.NoError(t, err)
		assert.Equal(t, []string{"first", "", "last"}, got, output)
	}
}

func TestOfANameWhatCannotBeRenderedIsEmpty(t *testing.T) {
	templates, err := parseTemplates([]string{"{.metadata.name}", "{.spec.nope}", "last"}, "jsonpath", true)
	require.NoError(t, err)
	got, err := render(templates, service(), true)
	require.NoError(t, err)
	assert.Equal(t, []string{"web", "", "last"}, got)
}

func TestATemplateCanFail(t *testing.T) {
	for output, text := range map[string]string{"jsonpath": "{.metadata.name[0]}", "gotemplate": "{{len .metadata.name.x}}"} {
		templates, err := parseTemplates([]string{text}, output, false)
		require.NoError(t, err)
		_, err = render(templates, service(), false)
		require.ErrorContains(t, err, "rendering the template ", output)
	}
}
