package proof

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestPackagesAreSelected(t *testing.T) {
	r := repositorytest.New(t, map[string]string{
		"go.mod":                 "module example.com/m\n\ngo 1.26.0\n",
		"main.go":                "package main\n\nimport _ \"example.com/m/b\"\n\nfunc main() {}\n",
		"a/a.go":                 "package a\n",
		"a/testdata/deep/x.yaml": "",
		"b/b.go":                 "package b\n\nimport _ \"example.com/m/a\"\n",
		"c/c_test.go":            "package c\n\nimport _ \"example.com/m/b\"\n",
		"d/d_test.go":            "package d_test\n\nimport _ \"example.com/m/a\"\n",
		"alone/alone.go":         "package alone\n\nimport _ \"example.com/m/c\"\n",
		"c/c.go":                 "package c\n",
		"config/config.go":       "package config\n\nimport _ \"embed\"\n\n//go:embed crd/x.yaml\nvar X string\n",
		"config/crd/x.yaml":      "",
		"config/crd/crd.go":      "package crd\n",
		"e2e/e2e_test.go":        "package e2e\n\nimport _ \"example.com/m/a\"\n",
	})
	packages, err := gotest.Module{Dir: r.Root}.List(t.Context())
	require.NoError(t, err)
	for name, test := range map[string]struct {
		files, named     []string
		dependents       bool
		compiled, tested []string
	}{
		"a leaf": {[]string{"main.go"}, []string{"."}, false, []string{"."}, []string{"."}},
		"one that others import": {
			[]string{"a/a.go", "a/more.go"}, []string{"./c"}, false,
			[]string{".", "./a", "./b", "./c", "./d", "./e2e"}, []string{"./a", "./c"},
		},
		"with its dependents": {
			[]string{"a/a.go"}, []string{"./a"}, true,
			[]string{".", "./a", "./b", "./c", "./d", "./e2e"}, []string{".", "./a", "./b", "./c", "./d"},
		},
		"an end-to-end test that is named": {[]string{"main.go"}, []string{"./e2e"}, false, []string{"."}, []string{".", "./e2e"}},
		"a test's data":                    {[]string{"a/testdata/deep/x.yaml"}, []string{"./a"}, false, []string{".", "./a", "./b", "./c", "./d", "./e2e"}, []string{"./a"}},
		"what another package embeds":      {[]string{"config/crd/x.yaml"}, []string{"./d"}, false, []string{"./config", "./config/crd"}, []string{"./config", "./config/crd", "./d"}},
		"data, with dependents": {
			[]string{"config/crd/x.yaml"}, []string{"./d"}, true, []string{"./config", "./config/crd"},
			[]string{".", "./a", "./alone", "./b", "./c", "./config", "./config/crd", "./d"},
		},
		"a new package": {[]string{"c/new/new.go"}, []string{"./c"}, false, []string{"./alone", "./c"}, []string{"./c"}},
	} {
		t.Run(name, func(t *testing.T) {
			var e exercise.Exercise
			for _, path := range test.named {
				e.Judge.Tests = append(e.Judge.Tests, exercise.Test{Package: path})
			}
			s := selectPackages(packages, e, test.files, test.dependents)
			assert.Equal(t, test.compiled, s.compiled)
			assert.Equal(t, test.tested, s.tested)
		})
	}
}
