package lesson

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// A verdict is of all that can change it, and of nothing else.
func TestAVerdictIsOfWhatALessonDependsOn(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	f := newFixture(t)
	f.inParts()
	f.files["03-watch/log/README.md"] = replaceOnce(t, f.files["03-watch/log/README.md"], "echo one > one.txt",
		"git -C .. apply 03-watch/lesson/exercises/leak/break.patch; go -C ../tools/pinned/dlv tool -n dlv; sh run.sh; make -s -C .. image; go test ./log; echo one > one.txt")
	maps.Copy(f.files, map[string]string{
		"Makefile":                                "image:\n",
		"README.md":                               "# Top\n",
		"tools/scripts/modules.sh":                "true\n",
		"tools/pinned/dlv/go.mod":                 "module dlv\n",
		"tools/pinned/kwok/go.mod":                "module kwok\n",
		"tools/pinned/helm/go.mod":                "module helm\n",
		"03-watch/go.mod":                         "module watch\n\nreplace base => ../02-base\n",
		"03-watch/run.sh":                         "go -C ../tools/pinned/kwok tool -n kwok\n",
		"03-watch/log/log.go":                     "package log\n\nconst crds = \"../../04-queue/crds\"\n",
		"03-watch/log/log_test.go":                "package log\n",
		"03-watch/more.md":                        "# More\n",
		"03-watch/apart/go.mod":                   "module apart\n",
		"03-watch/lesson/exercises/leak/a.patch":  "",
		"03-watch/lesson/exercises/other/a.patch": "",
		"02-base/go.mod":                          "module base\n\nreplace older => ../01-older\n",
		"02-base/README.md":                       "# Stage 2\n",
		"02-base/base.go":                         "package base\n",
		"01-older/go.mod":                         "module older\n",
		"01-older/older.go":                       "package older\n",
		"04-queue/go.mod":                         "module queue\n",
		"04-queue/queue.go":                       "package queue\n",
		"04-queue/crds/at.yaml":                   "kind: At\n",
	})
	r := f.repository()
	program := filepath.Join(t.TempDir(), "workshop")
	repositorytest.Write(t, program, "a program")
	of := func() (log, sum any) {
		t.Helper()
		in, err := newInputs(t.Context(), r, program)
		require.NoError(t, err)
		verdicts := map[string]any{}
		for _, part := range []string{"log", "sum"} {
			l, _, err := parse(r, Ref{Stage: repository.Stage{Number: 3, Folder: "03-watch"}, Part: part})
			require.NoError(t, err)
			verdicts[part], err = in.verdict(t.Context(), l, "verdicts")
			require.NoError(t, err)
		}
		return verdicts["log"], verdicts["sum"]
	}
	const none, one, both = 0, 1, 2
	for file, changes := range map[string]int{
		program:                                   both,
		"lab/bin/lab":                             both,
		"lab/bin/etcd":                            both,
		"03-watch/main.go":                        both, // a new file
		"03-watch/run.sh":                         both,
		"02-base/base.go":                         both,
		"01-older/older.go":                       both,
		"04-queue/crds/at.yaml":                   both,
		"tools/pinned/kwok/go.mod":                both,
		"tools/pinned/dlv/go.mod":                 one,
		"03-watch/log/README.md":                  one,
		"03-watch/log/log_test.go":                one,
		"03-watch/lesson/checks/log/step1.sh":     one,
		"03-watch/lesson/exercises/leak/a.patch":  one,
		"Makefile":                                one,
		"tools/scripts/modules.sh":                one,
		"README.md":                               none,
		"03-watch/README.md":                      none,
		"03-watch/more.md":                        none,
		"03-watch/apart/apart.go":                 one,
		"02-base/README.md":                       none,
		"03-watch/lesson/exercises/other/a.patch": none,
		"04-queue/queue.go":                       none,
		"tools/pinned/helm/go.mod":                none,
	} {
		t.Run(file, func(t *testing.T) {
			log, sum := of()
			if !filepath.IsAbs(file) {
				file = r.Path(file)
			}
			text, _ := os.ReadFile(file) // there may be none yet
			repositorytest.Write(t, file, string(text)+"changed")
			otherLog, otherSum := of()
			assert.Equal(t, changes >= one, log != otherLog, "of stage 3/log")
			assert.Equal(t, changes == both, sum != otherSum, "of stage 3/sum")
		})
	}
	log, _ := of()
	t.Setenv("GOFLAGS", "-tags=other")
	other, _ := of()
	assert.NotEqual(t, log, other, "Go's flags")
}

func TestWhatALessonCompilesIsKnown(t *testing.T) {
	f := newFixture(t)
	f.readme("echo one > one.txt", "go -C ../tools/pinned/dlv tool -n dlv; sh run.sh; echo one > one.txt")
	maps.Copy(f.files, map[string]string{
		"tools/pinned/dlv/go.mod":          "module dlv\n",
		"tools/pinned/kwok/go.mod":         "module kwok\n",
		"tools/pinned/helm/go.mod":         "module helm\n",
		"03-watch/run.sh":                  "go -C ../tools/pinned/kwok tool -n kwok\n",
		"03-watch/other.sh":                "go -C ../tools/pinned/helm tool -n helm\n",
		"03-watch/sub/go.mod":              "module sub\n",
		"03-watch/sub/testdata/one/go.mod": "module one\n",
		"04-queue/go.mod":                  "module queue\n",
	})
	r := f.repository()
	in, err := newInputs(t.Context(), r, "")
	require.NoError(t, err)
	l, err := Read(t.Context(), r, Ref{Stage: repository.Stage{Number: 3, Folder: "03-watch"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"03-watch", "03-watch/sub", "tools/pinned/dlv", "tools/pinned/kwok"}, in.modules(l))
}

func replaceOnce(t *testing.T, text, old, replacement string) string {
	t.Helper()
	require.Contains(t, text, old)
	return strings.Replace(text, old, replacement, 1)
}
