package proof

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// With the patch, this test waits as long as it may. It comes to nothing if that is short, as on a
// busy machine, or ALWAYS.
const slowNeighbour = `package sum

import (
	"cmp"
	"os"
	"testing"
	"time"
)

func TestSlow(t *testing.T) {
	t.Run("neighbour", func(t *testing.T) {
		timeout := os.Getenv("TEST_TIMEOUT")
		if Sum(1, 1) == 2 || timeout == "" && !ALWAYS {
			return
		}
		wait, err := time.ParseDuration(cmp.Or(timeout, "1s"))
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(wait)
		t.Error("it has not come in", timeout)
	})
}
`

func TestATestThatNeedsMoreTimeIsNoProblem(t *testing.T) {
	t.Setenv("TEST_TIMEOUT", "")
	defer func(before time.Duration) { shortWait = before }(shortWait)
	shortWait = 300 * time.Millisecond
	for name, test := range map[string]struct {
		always string
		honest bool
	}{
		"it passes when it has time": {"false", true},
		"it never passes":            {"true", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := exercisetest.New(t)
			repositorytest.Write(t, r.Path("01-sums", "sum", "slow_test.go"), strings.Replace(slowNeighbour, "ALWAYS", test.always, 1))
			out, err := proveTested(t, r, "1/lost")
			if test.honest {
				require.NoError(t, err, out)
				assert.Contains(t, out, "1-lost is honest")
				return
			}
			require.EqualError(t, err, "there is one problem with the exercises, see above")
			assert.Contains(t, out, "01-sums/lesson/exercises/lost: with the patch TestSlow/neighbour of ./sum fails too: name it in judge.yaml or make the patch smaller\n    slow_test.go:21: it has not come in 300ms\n")
		})
	}
}

// A test that finds the API server without a word of it that can be seen in its package.
const hiddenNeed = `package sum

import (
	"os"
	"testing"
)

func init() {
	for _, variable := range os.Environ() {
		if variable == "KUBEBUILDER_ASSETS=FOLDER" {
			return
		}
	}
	panic("there is no API server")
}

func TestNothing(*testing.T) {}
`

func TestAnExerciseThatSeemsToNeedNoAPIServerIsTriedWithoutOne(t *testing.T) {
	r := exercisetest.New(t)
	folder := filepath.Join(t.TempDir(), "assets")
	t.Setenv("KUBEBUILDER_ASSETS", folder)
	p := newProver(t, r)
	p.Tested, p.Dependents = true, true
	out, err := p.run(t, "1/lost")
	require.NoError(t, err, out)

	hidden := strings.NewReplacer("FOLDER", folder, "KUBEBUILDER_ASSETS=", `KUBEBUILDER_" + "ASSETS=`)
	repositorytest.Write(t, r.Path("01-sums", "sum", "hidden_test.go"), hidden.Replace(hiddenNeed))
	out, err = p.run(t, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, "01-sums/lesson/exercises/lost: without an API server, which its tests do not seem to need, with the patch ./sum ")
}
