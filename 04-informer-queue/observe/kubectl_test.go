package observe

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
)

// kubectlRenders is what kubectl -o jsonpath=... or -o go-template=... makes of an object.
func kubectlRenders(t *testing.T, output, text string, object map[string]any) (string, error) {
	t.Helper()
	var rendered bytes.Buffer
	whole := &unstructured.Unstructured{Object: object}
	if output == "jsonpath" {
		printer, err := printers.NewJSONPathPrinter(text)
		require.NoError(t, err, text)
		printer.AllowMissingKeys(true)
		err = withoutPanic(func() error { return printer.PrintObj(whole, &rendered) }) // of which kubectl dies
		return rendered.String(), err
	}
	printer, err := printers.NewGoTemplatePrinter([]byte(text))
	require.NoError(t, err, text)
	printer.AllowMissingKeys(true)
	err = printer.PrintObj(whole, &rendered)
	return strings.ReplaceAll(rendered.String(), "<no value>", ""), err
}

func weRender(t *testing.T, output, text string, object map[string]any) (string, error) {
	t.Helper()
	templates, err := parseTemplates([]string{text}, output, false)
	require.NoError(t, err, text)
	rendered, err := render(templates, object, false)
	return strings.Join(rendered, ""), err
}

// A template has the same result as with kubectl, or fails as it does. What kubectl fails for
// because it is missing, TestTemplates has.
func TestTemplatesAsKubectlHasThem(t *testing.T) {
	for output, texts := range map[string][]string{
		"jsonpath": {
			".metadata.name", "metadata.name", "{metadata.name}", "{}", "a}b", "{.metadata.name}}", "{$.metadata.name}{@.metadata.name}", // what is no path
			"{.spec.ports[0].port} {.spec.big} {.spec.ratio} {.spec.whole} {.spec.huge} {.spec.headless}", `{5}{-3.5}{true}{"a\nb"}{'\''}{"}{"}`, "{.spec .word}", // values
			"{.spec.nope}", "{.spec.nope.deeper[3]}", "{.spec.word.deeper}", "{.spec.selector.*}", "{.spec.none[0:0]}{.spec.none[*]}{.spec.none}", // missing
			"{.spec.letters}", "{.spec.letters[*]}", "{.spec.letters[-1]}", "{.spec.letters[0:2]}", "{.spec.letters[::2]}", "{.spec.letters[-2:]}", "{.spec.letters[0,2]}", // lists
			`{.metadata.annotations['example\.com/host']}`, "{.metadata.annotations['example.com/host']}", "{.metadata['name','nope']}", "{['kind','metadata.name']}", "{.spec.ports[*]['port','name']}", // brackets
			"{.spec.ports[?(@.port>80)].port}", "{.spec.ports[?(@.port==443)].port}", `{.spec.ports[?(@.name=="http")].port}`, "{.spec.ports[?(@.name)].port}", "{.spec.nope[?(@.name)]}", "{.spec.ports[?(@.port!=80)]}", // filters
			"{.spec.ports[?(@.port>'a')]}", "{.spec.word[?(@.a)]}", "{.spec.word[0]}", "{foo}", // what fails
			"{..port}", "{.spec.lists[*]..n}", // descent
			`{range .spec.ports[*]}{.port}{"\t"}{.name}{"\n"}{end}`, "{range.spec.letters[0:2]}{@};{end}", "{ range .spec.ports[?(@.port>80)] }<{$.port}>{ end }", "{range .spec.selector}x{.app}{end}y", "{range .spec.nope}x{end}y", "{range .spec.letters[*]}{end}y", "{range .spec.nulls[*]}<{.n}>{@}{end}", "{range .spec.nulls[*]}{[0]}{end}", // ranges
			"{range .spec.lists[*]}{range .items[*]}[{.n}]{end}{.items[0].n},{end}!", "{range .spec.ports[*]}{range .nope[*]}x{end}{.port}{end}", "{range .spec.letters[*]}{@}", "a{end}b", "{range .spec.ports[*]}{.port}{end}{end}",
		},
		"gotemplate": {
			"metadata.name", "{{.metadata.name}}", "{{.spec.big}} {{.spec.ratio}} {{.spec.whole}} {{.spec.huge}} {{.spec.headless}} {{.spec.letters}} {{.spec.selector}}",
			"{{.spec.nope}}", "{{.spec.nope.deeper.still}}", "{{.spec.word.deeper}}", "{{$x := .spec.nope}}{{$x.y}}",
			`{{index .spec.letters 1}}`, `{{index .spec.selector "app"}}`, `{{index .spec.selector "nope"}}`, `{{index .spec "ports" 0 "port"}}`, `{{index .spec.word 0}}`, `{{index .spec.letters "a"}}`, `{{index .spec.headless 0}}`,
			`{{slice .spec.letters 1}}`, `{{slice .spec.word 1 3}}`, `{{slice .spec.headless 1}}`, `{{len .spec.letters}}{{len .spec.word}}{{len .spec.selector}}`, `{{len .spec.headless}}`,
			`{{exists .spec.letters 1}}{{exists .spec.letters 9}}{{exists .spec.letters "a"}}{{exists .spec.word 1}}{{exists . "spec" "ports" 1 "name"}}{{exists .spec.nope "x"}}{{exists .spec.selector "app"}}{{exists .spec "empty"}}{{exists .spec "selector" 1}}{{exists .spec}}`,
			`{{.spec.word | base64decode}}`, `{{base64decode .metadata.name}}`, `{{base64decode .spec.big}}`, `{{"" | base64decode}}`,
			`{{eq .spec.nope 3}}{{ne .spec.nope "x"}}{{eq .spec.big 12345678901}}`, `{{lt .spec.big 3}}{{le 3 3}}{{gt .spec.ratio 1.0}}{{ge .spec.word "c"}}`, `{{lt .spec.big 3.0}}`, `{{lt .spec.letters 3}}`,
			`{{and .spec.headless 1}}{{or .spec.nope 1}}{{not .spec.nope}}`, `{{html "<" .spec.word}}{{js "'"}}{{urlquery "a b" 1}}{{print 1 2 "a"}}{{println .spec.word}}{{printf "%d%5.1f%q" .spec.big .spec.ratio .spec.word}}`, `{{call .spec.word}}`,
			`{{range .spec.ports}}{{.port}},{{.name}};{{else}}none{{end}}`, `{{range .spec.nope}}x{{else}}none{{end}}`, `{{range $i, $e := .spec.letters}}{{$i}}{{$e}}{{end}}`, `{{range $k, $v := .spec.selector}}{{$k}}{{$v}}{{end}}`, `{{range 3}}{{.}}{{end}}`, `{{range .spec.word}}x{{end}}`, `{{range .spec.nulls}}<{{.}}>{{end}}`, `{{range .spec.nulls}}{{.n}}{{end}}`,
			`{{range .spec.letters}}{{if eq . "b"}}{{break}}{{end}}{{.}}{{end}}`, `{{with .spec.nope}}x{{else with .spec}}{{.word}}{{end}}`, `{{- .spec.word -}} y{{/* z */}}`, `{{define "t"}}<{{.app}}>{{end}}{{template "t" .spec.selector}}`, `{{template "nope"}}`,
		},
	} {
		for _, text := range texts {
			want, failed := kubectlRenders(t, output, text, service())
			got, err := weRender(t, output, text, service())
			assert.Equal(t, failed != nil, err != nil, "%s: kubectl: %v; we: %v", text, failed, err)
			if failed == nil {
				assert.Equal(t, want, got, text)
			}
		}
	}
}

func TestFunctionsThatKubectlDoesNotHave(t *testing.T) {
	_, err := parseTemplates([]string{`{{shown .metadata.name}}`}, "gotemplate", false)
	require.ErrorContains(t, err, `function "shown" not defined`)
}

// Paths that nobody thought of: whatever kubectl renders, we render the same.
func TestRandomPathsAsKubectlHasThem(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 7))
	one := func(words ...string) string { return words[random.IntN(len(words))] }
	path := func() (path string) {
		for range 1 + random.IntN(4) {
			path += one(".spec", ".ports", ".lists", ".items", ".n", ".name", "[*]", "[*]", "[0]", "[1]", "[-1]", "[0:1]", "[0,1]", "['port','name']", "[?(@.n>1)]", "[?(@.items[1].n)]", ".letters")
		}
		return path
	}
	var ranges func(depth int) string
	ranges = func(depth int) string {
		text := one("", "a", `{"}"}`) + "{" + path() + "}"
		if depth > 0 {
			text += "{range .spec" + one(".ports[*]", ".lists[*]", ".letters[*]", ".nope[*]", "") + "}" + ranges(depth-1) + "{end}" + ranges(0)
		}
		return text
	}
	rendered := 0
	for range 500 {
		text := ranges(random.IntN(3))
		want, err := kubectlRenders(t, "jsonpath", text, service())
		if err != nil {
			continue
		}
		got, err := weRender(t, "jsonpath", text, service())
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		if want != "" {
			rendered++
		}
	}
	assert.Greater(t, rendered, 50, "kubectl renders something of enough of them")
}
