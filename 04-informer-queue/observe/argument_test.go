package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// service is what a cache might have.
func service() map[string]any {
	return map[string]any{
		"metadata": map[string]any{
			"name":              "web",
			"creationTimestamp": nil,
			"annotations":       map[string]any{"example.com/host": "web.example.com", "empty": ""},
		},
		"spec": map[string]any{
			"ports":    []any{map[string]any{"port": int64(80), "name": "http"}, map[string]any{"port": int64(443)}},
			"big":      int64(12345678901),
			"headless": false,
			"word":     "c2VzYW1l",
			"selector": map[string]any{"app": "web"},
		},
	}
}

// Both languages are kubectl's, so the tests are of what differs: what is missing.
func TestTemplates(t *testing.T) {
	tests := map[string]struct {
		output, template, want string
		strict                 string // the error with --strict-templates; empty: the same as without
	}{
		"jsonpath: a field inside text":       {"jsonpath", "a {.metadata.name} b", "a web b", ""},
		"jsonpath: a number":                  {"jsonpath", "{.spec.ports[0].port} {.spec.big}", "80 12345678901", ""},
		"jsonpath: a key with dots":           {"jsonpath", `{.metadata.annotations.example\.com/host}`, "web.example.com", ""},
		"jsonpath: a list":                    {"jsonpath", `{range .spec.ports[*]}{.port}:{.name},{end}!`, "80:http,443:,!", "name is not found"},
		"jsonpath: no field inside text":      {"jsonpath", "a {.spec.nope.deeper} b", "a  b", "nope is not found"},
		"jsonpath: an item that is missing":   {"jsonpath", "a{.spec.ports[7].port}b", "", "array index out of bounds"},
		"gotemplate: a field inside text":     {"gotemplate", "a {{.metadata.name}} b", "a web b", ""},
		"gotemplate: a number":                {"gotemplate", `{{(index .spec.ports 1).port}} {{.spec.big}}`, "443 12345678901", ""},
		"gotemplate: a key with dots":         {"gotemplate", `{{index .metadata.annotations "example.com/host"}}`, "web.example.com", ""},
		"gotemplate: kubectl's functions":     {"gotemplate", `{{.spec.word | base64decode}} {{exists .spec "nope"}}`, "sesame false", ""},
		"gotemplate: a list":                  {"gotemplate", `{{range .spec.ports}}{{.port}}:{{.name}},{{end}}!`, "80:http,443:,!", `map has no entry for key "name"`},
		"gotemplate: no field inside text":    {"gotemplate", "a {{.spec.nope.deeper}} b", "a  b", `map has no entry for key "nope"`},
		"gotemplate: no such map":             {"gotemplate", `{{index .metadata.labels "nope"}}`, "", `map has no entry for key "labels"`},
		"gotemplate: an item that is missing": {"gotemplate", `a{{(index .spec.ports 7).port}}b`, "", "index out of range"},
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
	for text, output := range map[string]string{"{.metadata.name[0]}": "jsonpath", "{{len .metadata.name.x}}": "gotemplate"} {
		templates, err := parseTemplates([]string{text}, output, false)
		require.NoError(t, err)
		_, err = render(templates, service(), false)
		require.ErrorContains(t, err, "rendering the template ", text)
		assert.NotContains(t, err.Error(), "c2VzYW1l", "the object may be a Secret")
	}
}

func TestQuoteLine(t *testing.T) {
	tests := map[string]struct {
		words []string
		want  string
	}{
		"nothing":            {nil, ""},
		"words":              {[]string{"echo", "default", "web-1", "{.x}", "a=b"}, "echo default web-1 {.x} a=b"},
		"an empty word":      {[]string{"echo", "", "x"}, `echo "" x`},
		"a space":            {[]string{"a b"}, `"a b"`},
		"a quote":            {[]string{`a"b`}, `"a\"b"`},
		"a backslash":        {[]string{`a\b`}, `"a\\b"`},
		"one line, whatever": {[]string{"a\nb", "\x1b[31m"}, `"a\nb" "\x1b[31m"`},
		"other letters":      {[]string{"höhe"}, "höhe"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, quoteLine(tc.words)) })
	}
}
