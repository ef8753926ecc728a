package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheLessonQuotesThisCode keeps the prose honest: each Go block of the
// README stands word for word in one of the files.
func TestTheLessonQuotesThisCode(t *testing.T) {
	var code strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		code.WriteString(read(t, file))
	}
	quotes := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
	assert.NotEmpty(t, quotes)
	for _, quote := range quotes {
		if !strings.Contains(code.String(), quote[1]) {
			t.Errorf("no file has this:\n%s", quote[1])
		}
	}
}

func TestEachStepHasItsCheck(t *testing.T) {
	steps := regexp.MustCompile(`(?m)^## Step (\d+): `).FindAllStringSubmatch(read(t, "README.md"), -1)
	var want []string
	for _, step := range steps {
		want = append(want, filepath.Join("checks", "step"+step[1]+".sh"))
	}
	got, err := filepath.Glob("checks/*.sh")
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}
