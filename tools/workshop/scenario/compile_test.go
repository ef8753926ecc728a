package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestWhatStepsRunIsCompiled(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"first", "cmd", "settings", "image"} {
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o755))
	}
	for name, c := range map[string]struct {
		code string
		want []string
	}{
		"a build":                   {"go build -o bin/ ./cmd/...", []string{"go build -o /dev/null ./cmd/..."}},
		"a build of the stage":      {"go build -o=watch .", []string{"go build -o /dev/null ."}},
		"a build with other flags":  {"go build -race -o watch ./first", []string{"go build -o /dev/null -race ./first"}},
		"a program that is run":     {"go run ./image --output=bin/again.tar | tee log", []string{"go build -o /dev/null ./image"}},
		"in the background":         {"(go run ./first > first.log 2>&1 &)", []string{"go build -o /dev/null ./first"}},
		"a test":                    {"UNWATCHED=yes go test -v -run '^(TestA|TestB)$' ./settings > log; cat log", []string{"go test -exec=true -count=1 -v -run '^(TestA|TestB)$' ./settings"}},
		"go vet":                    {"if go vet \\\n./cmd/...; then echo fine; fi", []string{"go vet ./cmd/..."}},
		"the same twice":            {"go build -o a ./cmd; go build -o b ./cmd", []string{"go build -o /dev/null ./cmd"}},
		"what a step makes":         {"cp -r first attempt\ngo build -o naive ./attempt", nil},
		"a file that a step makes":  {"sed s/a/b/ first/main.go > other.go\ngo build -o other other.go", nil},
		"an overlay of a step":      {"echo '{}' > other.json\ngo test -overlay=other.json ./first", nil},
		"go, but nothing to build":  {"go version; go env GOROOT", nil},
		"words about it":            {"echo 'go build ./cmd'; # go build ./cmd\nlog go build ./cmd", nil},
		"what is found in a script": {"sh generate.sh", nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := lesson.Lesson{Steps: []lesson.Step{{Blocks: []lesson.Block{{Code: c.code}, {Code: "go build ./first", OnlyLab: true}}}}}
			got, err := compileCommands(l, folder)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

// The commands compile, and neither run anything nor leave a program.
func TestTheCommandsOnlyCompile(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":       "module one\n\ngo 1.26.0\n",
		"main.go":      "package main\n\nfunc main() { panic(\"it was run\") }\n",
		"main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestMain(*testing.M) { panic(\"it was run\") }\n",
	} {
		repositorytest.Write(t, filepath.Join(folder, name), content)
	}
	l := lesson.Lesson{Steps: []lesson.Step{{Blocks: []lesson.Block{{Code: "go build -o one .\ngo test .\ngo run . --now\ngo vet ."}}}}}
	commands, err := compileCommands(l, folder)
	require.NoError(t, err)
	assert.Len(t, commands, 3, "what is run is what was built")
	for _, line := range commands {
		command := exec.CommandContext(t.Context(), "sh", "-c", line)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOWORK=off")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", line, output)
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, left, 3)
}
