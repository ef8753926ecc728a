package branch

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// prove proves a clean copy of r, and returns what was told on the way.
func prove(t *testing.T, c Cutter, r repository.Repository) (string, error) {
	t.Helper()
	clone, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "clone"))
	require.NoError(t, err)
	var out bytes.Buffer
	err = Prover{Cutter: c, Out: &out}.Prove(t.Context(), clone)
	return out.String(), err
}

func TestEachBranchIsProved(t *testing.T) {
	told, err := prove(t, cutter, newRepository(t))
	require.NoError(t, err, told)
	for _, name := range []string{"stage-1", "stage-2", "stage-3"} {
		assert.Contains(t, told, "branch "+name+" is whole, builds and passes its tests")
	}
}

func TestABranchThatIsNotWholeIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"its tests fail":         {"02-watch/watch_test.go", "package watch\n\nimport \"testing\"\n\nfunc TestWatch(t *testing.T) { t.Error(\"boo\") }\n", "branch stage-2: the tests of 02-watch: TestWatch of the top package fails:\n    watch_test.go:5: boo"},
		"another module's fail":  {"tools/tools.txt", "FAILS\n", "branch stage-1: its tests: make test-workshop test-tools RACE=: exit status 2"},
		"a link leads nowhere":   {"02-watch/README.md", "See [it](gone.md).\n", "branch stage-2: 02-watch/README.md links to gone.md, which is not there"},
		"go.work is out of date": {"go.work", "go 1.26.0\n\nuse ./04-gone\n", "branch stage-2: go.work does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			repositorytest.Write(t, r.Path(c.file), c.content)
			_, err := prove(t, cutter, r)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestABranchThatChangesTheLabIsNamed(t *testing.T) {
	changing := Cutter{Generate: func(_ context.Context, r repository.Repository) error {
		repositorytest.Write(t, r.Path("lab", "main.go"), "package other\n")
		return nil
	}}
	_, err := prove(t, changing, newRepository(t))
	require.ErrorContains(t, err, "branch stage-1: it changes the lab: lab/main.go")
}

func TestCuttingThatIsNotDeterministicIsNoticed(t *testing.T) {
	var times int
	drifting := Cutter{Generate: func(_ context.Context, r repository.Repository) error {
		times++
		repositorytest.Write(t, r.Path("katacoda", "course.txt"), strconv.Itoa(times))
		return nil
	}}
	_, err := prove(t, drifting, newRepository(t))
	require.ErrorContains(t, err, "cutting is not deterministic")
}

func TestLinksOutOfTheRepositoryAreLeftAlone(t *testing.T) {
	assert.Equal(t, []string{"main.go", "../a folder/"}, links([]byte(
		"[a](main.go#L3) [b](https://example.com/x) [c](#below) [d](../a%20folder/) `[e](code)`\n\n```go\nx := f[g](h)\n```\n")))
}
