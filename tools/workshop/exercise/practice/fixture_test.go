package practice

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A learner sits in a clone with three exercises and uses the commands.
type learner struct {
	*testing.T
	home repository.Repository
	cwd  string
	code bool // his terminal is that of VS Code
}

func newLearner(t *testing.T) learner {
	t.Helper()
	home := exercisetest.New(t)
	return learner{t, home, home.Root, false}
}

// in is the learner in a folder of the clone.
func (l learner) in(elements ...string) learner {
	l.cwd = l.home.Path(elements...)
	return l
}

// copyPath is a path in the copy of an exercise.
func (l learner) copyPath(id string, elements ...string) string {
	return l.home.Path(append([]string{".workshop", id}, elements...)...)
}

// open is what each command begins with.
func (l learner) open(out *bytes.Buffer) practice {
	l.Helper()
	p, err := openIn(l.Context(), l.cwd, out)
	require.NoError(l, err)
	p.code = l.code
	return p
}

func (l learner) start(number, name string) (string, error) {
	l.Helper()
	var out bytes.Buffer
	err := l.open(&out).start(l.Context(), number, name)
	return out.String(), err
}

func (l learner) mustStart(number, name string) string {
	l.Helper()
	out, err := l.start(number, name)
	require.NoError(l, err, out)
	return out
}

// do runs a command for the exercise called name, or for the current one.
func (l learner) do(name string, run func(practice, workCopy) error) (string, error) {
	l.Helper()
	var out bytes.Buffer
	p := l.open(&out)
	c, err := p.choose(l.Context(), name)
	if err == nil {
		err = run(p, c)
	}
	return heartbeat.ReplaceAllString(out.String(), ""), err
}

// heartbeat is a line that says what a slow machine is doing, such as "  10s: compiling".
var heartbeat = regexp.MustCompile(`(?m)^  (\d+m)?\d+s: .*\n`)

func (l learner) check(name string) (string, error) {
	l.Helper()
	return l.do(name, func(p practice, c workCopy) error { return p.check(l.Context(), c, exercisetest.Timeout) })
}

func (l learner) hint(again bool) (string, error) {
	l.Helper()
	return l.do("", func(p practice, c workCopy) error { return p.hint(l.Context(), c, again) })
}

func (l learner) solution(apply bool) (string, error) {
	l.Helper()
	return l.do("", func(p practice, c workCopy) error { return p.solution(l.Context(), c, apply) })
}

func (l learner) reset(name string) (string, error) {
	l.Helper()
	return l.do(name, func(p practice, c workCopy) error { return p.reset(l.Context(), c) })
}

func (l learner) list() string {
	l.Helper()
	var out bytes.Buffer
	require.NoError(l, l.open(&out).list(l.Context()))
	return out.String()
}

func (l learner) git(dir string, args ...string) string {
	l.Helper()
	out, err := repository.Git(l.Context(), dir, args...)
	require.NoError(l, err)
	return out
}

// solve mends the exercise called lost.
func (l learner) solve() {
	l.Helper()
	exercisetest.Edit(l, l.copyPath("1-lost", "01-sums", "sum", "sum.go"), "total = n", "total = total + n")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (l learner) progressFile() string { return l.home.Path(".workshop", "progress.json") }

func (l learner) progress() Progress {
	l.Helper()
	var out bytes.Buffer
	progress, err := l.open(&out).progress(l.Context())
	require.NoError(l, err)
	require.Empty(l, out.String())
	return progress
}

func (l learner) asideFiles() []string {
	l.Helper()
	folder, name := filepath.Split(l.progressFile())
	files, err := fs.Glob(os.DirFS(folder), name+".broken-*")
	require.NoError(l, err)
	for i, file := range files {
		files[i] = filepath.Join(folder, file)
	}
	return files
}
