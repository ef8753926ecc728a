// Package lesson has no code. Its tests keep the README honest.
package lesson

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheLessonQuotesThisCode: each block of Go or YAML in the README stands word for word
// in one of the files.
func TestTheLessonQuotesThisCode(t *testing.T) {
	var code strings.Builder
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".yaml")) {
			code.WriteString(read(t, path))
		}
		return err
	}))
	quotes := regexp.MustCompile("(?s)```(?:go|yaml)\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
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
	for i, step := range steps {
		assert.Equal(t, strconv.Itoa(i+1), step[1])
		want = append(want, filepath.Join("checks", "step"+step[1]+".sh"))
	}
	got, err := filepath.Glob("checks/*.sh")
	require.NoError(t, err)
	slices.Sort(want)
	assert.Equal(t, want, got)
}

func TestNothingInTheLessonIsStillToBeFilledIn(t *testing.T) {
	blanks := regexp.MustCompile("```text\n(OUT\n)?```").FindAllString(read(t, "README.md"), -1)
	assert.Empty(t, blanks)
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}
