package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write makes a repository of these files, and returns its folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return root
}

func TestFindings(t *testing.T) {
	tests := map[string]struct {
		file, code string
		want       []string
	}{
		"a function":         {"a.go", "func tellsCost() {}", []string{`"tells" in tellsCost; write record, notify, report or print`}},
		"a method":           {"a.go", "func (boat) knockAt() {}", []string{`"knock" in knockAt; write checkAccess, or preflight`}},
		"a type":             {"a.go", "type Scene struct{}", []string{`"scene" in Scene; write env, case, run or withFault`}},
		"a field":            {"a.go", "type boat struct{ house string }", []string{`"house" in house; write modules, or repository`}},
		"a parameter":        {"a.go", "func sail(told []string) {}", []string{`"told" in told; write record, notify, report or print`}},
		"a constant":         {"a.go", "const stillness = 1", []string{`"stillness" in stillness; write stallTimeout, flushTimeout or testTimeout`}},
		"a local variable":   {"a.go", "func sail() { said := 1; _ = said }", []string{`"said" in said; write record, notify, report or print`}},
		"a variable of loop": {"a.go", "func sail() { for _, pass := range x { _ = pass } }", []string{`"pass" in pass; write reconcile`}},
		"the file":           {"tell_test.go", "", []string{`"tell" in tell_test; write record, notify, report or print`}},
		"what is only used":  {"a.go", "func sail() { boat.Tell() }", nil},
		"other words":        {"a.go", "func bypassPassword() { storyteller := 1 }", nil},
		"a text":             {"a.go", `const a = "it asks the API server for all"`, []string{`"asks the API server"; write a request by its name: GET, LIST, WATCH`}},
		"a comment":          {"a.go", "// Sail is of the house.", []string{`"of the house"; write this repository`}},
		"a comment that goes on in the next line": {"a.go", "// Sail tells\n// of it.", []string{`"tells of"; write record, notify, report or print`}},
		"a comment that is fine":                  {"a.go", "// Unless told otherwise, it lists.", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code := "package boat\n" + tc.code + "\n"
			line := ":2: "
			if name == "the file" {
				line = ":1: "
			}
			_, found, err := check(write(t, map[string]string{"01-list/a/" + tc.file: code}))
			require.NoError(t, err)
			var want []string
			for _, sentence := range tc.want {
				want = append(want, "01-list/a/"+tc.file+line+sentence)
			}
			assert.Equal(t, want, found)
		})
	}
}

func TestProse(t *testing.T) {
	for page, want := range map[string]string{
		"Mend it.\n":                           `a.md:1: "Mend"; write fix`,
		"# Boats\n\n| a | made anew |\n":       `a.md:3: "anew"; write again`,
		"- it waits for ever\n":                `a.md:1: "for ever"; write forever`,
		"**Whoever** sails\n":                  `a.md:1: "Whoever"; write anyone who, or what it is`,
		"It's of kind `mend`.\n":               "",
		"```text\nthe pod is made anew\n```\n": "",
		"    whoever\n":                        "",
		"Amendments, forever, renewed.\n":      "",
	} {
		_, found, err := prose(write(t, map[string]string{"a.md": page, "katacoda/b.md": "anew\n", "c.txt": "anew\n"}))
		require.NoError(t, err)
		assert.Equal(t, want, strings.Join(found, "\n"), page)
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string][]string{
		"tellsHTTPCost":     {"tells", "http", "cost"},
		"AWatchThatSaysNo":  {"a", "watch", "that", "says", "no"},
		"tell_test":         {"tell", "test"},
		"TestFault1IsShown": {"test", "fault", "is", "shown"},
		"_":                 {},
		"größeÄndern":       {"größe", "ändern"},
	} {
		assert.Equal(t, want, split(name), name)
	}
}

func TestOnlyStagesAreChecked(t *testing.T) {
	files := map[string]string{"01-list/a.go": "package a\n", "tools/a.go": "package a\n\nfunc tell() {}\n"}
	var out, errs bytes.Buffer
	assert.Equal(t, 0, run(write(t, files), &out, &errs))
	assert.Equal(t, "1 files have the words of Kubernetes, and 0 pages those that people say\n", out.String())
	files["02-watch/a.go"] = files["tools/a.go"]
	assert.Equal(t, 1, run(write(t, files), &out, &errs))
	assert.Equal(t, "02-watch/a.go:3: \"tell\" in tell; write record, notify, report or print\n", errs.String())
}

func TestAWordOfAPageIsAnError(t *testing.T) {
	var out, errs bytes.Buffer
	assert.Equal(t, 1, run(write(t, map[string]string{"01-list/a.go": "package a\n", "docs/A.md": "Make it anew.\n"}), &out, &errs))
	assert.Equal(t, "docs/A.md:1: \"anew\"; write again\n", errs.String())
}

func TestAFolderWithoutStagesIsAnError(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no stage":     {"boat/a.go": "package a\n"},
		"no Go code":   {"01-list/README.md": "A list."},
		"an empty one": nil,
	} {
		root := write(t, files)
		var out, errs bytes.Buffer
		assert.Equal(t, 1, run(root, &out, &errs), name)
		assert.Equal(t, "words: "+root+" has no Go code of a stage to check; name the root of the repository\n", errs.String(), name)
		assert.Empty(t, out.String(), name)
	}
}

func TestGeneratedCodeIsLeftOut(t *testing.T) {
	count, found, err := check(write(t, map[string]string{"01-list/a.go": "// Code generated by a tool. DO NOT EDIT.\n\npackage a\n\nfunc tell() {}\n"}))
	require.NoError(t, err)
	assert.Zero(t, count)
	assert.Empty(t, found)
}

func TestCodeThatDoesNotParseIsAnError(t *testing.T) {
	var out, errs bytes.Buffer
	assert.Equal(t, 1, run(write(t, map[string]string{"01-list/a.go": "packag"}), &out, &errs))
	assert.Contains(t, errs.String(), "words: ")
	assert.Contains(t, errs.String(), "01-list/a.go:1:1: expected 'package'")
}
