package proof

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func replaced(text, old, replacement string) string {
	return strings.ReplaceAll(text, old, filepath.ToSlash(replacement))
}

func TestVerdictsAreRemembered(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "smallest", "judge.yaml"), "not 3", "not 7")
	p := newProver(t, r)
	_, err := p.run(t)
	require.Error(t, err)
	out, err := p.run(t)
	require.Error(t, err, "only what is honest is remembered")
	assert.Contains(t, out, "2 of 3 verdicts from the cache: 1-lost, 1-silent\n")
	assert.Contains(t, out, "1-smallest is NOT honest")
	assert.NotContains(t, out, "1-lost is")

	out, err = p.run(t, "1/lost", "1/silent")
	require.NoError(t, err, out)
	assert.Equal(t, "2 of 2 verdicts from the cache: 1-lost, 1-silent\n\nexercises: 2 passed, 0 failed\n", out)
	p.Fresh = true
	out, err = p.run(t, "1/lost")
	require.NoError(t, err, out)
	assert.Contains(t, out, "1-lost is honest")
	assert.NotContains(t, out, "cache")
}

func TestAVerdictIsOfWhatItWasMadeFrom(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("KUBEBUILDER_ASSETS", "")
	r := exercisetest.New(t)
	repositorytest.Write(t, r.Path("01-sums", "go.mod"), "module example.com/sums\n\ngo 1.26.0\n\nreplace example.com/base => ../02-base\n\nreplace example.com/far v1.0.0 => example.com/near v1.0.0\n")
	repositorytest.Write(t, r.Path("02-base", "go.mod"), "module example.com/base\n\ngo 1.26.0\n")
	repositorytest.Write(t, r.Path("03-other", "go.mod"), "module example.com/other\n")
	repositorytest.Write(t, r.Path("tools", "scripts", "inputs.sh"), "#!/bin/sh\ncat inputs\n")
	repositorytest.Write(t, r.Path("inputs"), "server1 lab1")
	repositorytest.Write(t, r.Path("lab", "bin", "lab"), "a lab")
	program := filepath.Join(t.TempDir(), "workshop")
	repositorytest.Write(t, program, "a program")
	p := newProver(t, r)
	p.Program = program
	e := exercise.Exercise{Stage: repository.Stage{Number: 1, Folder: "01-sums"}, Name: "lost"}
	of := func() any {
		s, err := p.takeSlot(t.Context(), r)
		require.NoError(t, err)
		defer s.Free()
		m, err := p.survey(t.Context(), s, e)
		require.NoError(t, err)
		v, err := p.verdict(t.Context(), s.Repository, m, trial{Exercise: e, selection: selection{tested: []string{"./sum"}}})
		require.NoError(t, err)
		return v
	}
	before := of()
	repositorytest.Write(t, r.Path("03-other", "other.go"), "package other\n")
	repositorytest.Write(t, r.Path("02-base", "base_test.go"), "package base\n")
	repositorytest.Write(t, r.Path("01-sums", "words", "more.go"), "package words\n")
	repositorytest.Write(t, r.Path("01-sums", "rare", "rare.go"), "package rare\n")
	repositorytest.Write(t, r.Path("01-sums", "nested", "go.mod"), "module nested\n")
	repositorytest.Write(t, r.Path("01-sums", "more.md"), "# What a stage tells\n")
	repositorytest.Write(t, r.Path("01-sums", "lesson", "exercises", "silent", "hints.md"), "## Another hint\n")
	repositorytest.Write(t, r.Path("01-sums", "lesson", "checks", "step1.sh"), "echo done\n")
	require.NoError(t, r.Commit(t.Context(), "another stage"))
	p.Repository, p.Jobs = repository.Repository{}, 7
	repositorytest.Write(t, r.Path("lab", "bin", "lab"), "a lab with another shim")
	repositorytest.Write(t, r.Path("inputs"), "server1 lab2")
	assert.Equal(t, before, of(), "what has no say")

	write := func(content string, path ...string) func(*testing.T) {
		return func(*testing.T) { repositorytest.Write(t, r.Path(path...), content) }
	}
	for _, tc := range []struct {
		name   string
		change func(*testing.T)
	}{
		{"what is tested", write("package sum\n", "01-sums", "sum", "more_test.go")},
		{"what that imports", write("package sum\n\nimport _ \"example.com/sums/words\"\n", "01-sums", "sum", "sum.go")},
		{"what that imports has changed", write("package words\n", "01-sums", "words", "again.go")},
		{"what only a try imports", write("//go:build try\n\npackage sum\n\nimport _ \"example.com/sums/rare\"\n", "01-sums", "sum", "try_test.go")},
		{"what only a try imports has changed", write("package rare\n\nconst X = 1\n", "01-sums", "rare", "rare.go")},
		{"data", write("kind: A\n", "01-sums", "config", "crd.yaml")},
		{"a stage that it needs", write("package base\n", "02-base", "base.go")},
		{"the inputs", write("server2 lab2", "inputs")},
		{"this program", func(t *testing.T) { repositorytest.Write(t, program, "another program") }},
		{"what is asked", func(*testing.T) { p.Dependents = true }},
		{"what is given", func(*testing.T) { p.Tested = true }},
		{"Go's flags", func(t *testing.T) { t.Setenv("GOFLAGS", "-tags=x") }},
		{"cgo", func(t *testing.T) { t.Setenv("CGO_ENABLED", "0") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := of()
			tc.change(t)
			assert.NotEqual(t, before, of())
		})
	}
	e.Judge.Tests = []exercise.Test{{Package: "./e2e", Test: "TestX"}}
	for name, change := range map[string]func(){
		"the lab, where tests start one": func() { repositorytest.Write(t, r.Path("lab", "bin", "lab"), "a LAB") },
		"one more program of it":         func() { repositorytest.Write(t, r.Path("lab", "bin", "etcd"), "") },
	} {
		before = of()
		change()
		assert.NotEqual(t, before, of(), name)
	}
	e.Judge.Module = "../03-other"
	before = of()
	repositorytest.Write(t, r.Path("03-other", "more.go"), "package other\n")
	assert.NotEqual(t, before, of(), "a module beside the stage")
}

func TestAVerdictIsOfItsExerciseAlone(t *testing.T) {
	r := exercisetest.New(t)
	p := newProver(t, r)
	of := func(name string) any {
		e := exercise.Exercise{Stage: repository.Stage{Number: 1, Folder: "01-sums"}, Name: name}
		v, err := p.verdict(t.Context(), r, &survey{}, trial{Exercise: e})
		require.NoError(t, err)
		return v
	}
	lost, silent := of("lost"), of("silent")
	repositorytest.Write(t, r.Path("01-sums", "lesson", "exercises", "lost", "hints.md"), "## Another hint\n")
	require.NoError(t, r.Commit(t.Context(), "a hint"))
	assert.NotEqual(t, lost, of("lost"))
	assert.Equal(t, silent, of("silent"))
}
