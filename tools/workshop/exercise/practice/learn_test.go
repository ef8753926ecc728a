package practice

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// A lesson of the fixture with two steps.
func addLesson(l learner) {
	l.Helper()
	repositorytest.Write(l, l.home.Path("01-sums", "README.md"), "# Stage 1: sums\n\n## Why\n\n## Step 1: Make a\n\n## Step 2: Make b\n")
	for _, step := range []struct{ number, file string }{{"1", "a"}, {"2", "b"}} {
		repositorytest.Write(l, l.home.Path("01-sums", "lesson", "checks", "step"+step.number+".sh"),
			"[ -e "+step.file+" ] || { echo there is no "+step.file+"; exit 1; }\necho done\n")
	}
	require.NoError(l, l.home.Commit(l.Context(), "lesson"))
}

// sessionTimeout is enough to compile something as well.
var sessionTimeout = max(exercisetest.Timeout, 5*time.Minute)

// output is what a session printed so far.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	read   int
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

// text returns all that was printed so far.
func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// A sitting is a session of a learner, at the keys.
type sitting struct {
	*output
	t     *testing.T
	keys  io.WriteCloser // a line for each
	ended <-chan error
}

// sit runs a session.
func (l learner) sit(session func(p practice, in io.Reader) error) sitting {
	l.Helper()
	out := &output{}
	p := l.open(nil)
	p.out = out
	reader, writer := io.Pipe()
	l.Cleanup(func() { _ = writer.Close() })
	done := make(chan error, 1)
	go func() { done <- session(p, reader) }()
	return sitting{out, l.T, writer, done}
}

func (l learner) learn(ctx context.Context) sitting {
	l.Helper()
	return l.sit(func(p practice, in io.Reader) error { return p.learn(ctx, in, nil, sessionTimeout) })
}

func (s sitting) press(key string) {
	s.t.Helper()
	_, err := io.WriteString(s.keys, key+"\n")
	require.NoError(s.t, err)
}

// next waits for a text after what was waited for before.
func (s sitting) next(want string) {
	s.t.Helper()
	found := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		i := strings.Index(s.buffer.String()[s.read:], want)
		if i >= 0 {
			s.read += i + len(want)
		}
		return i >= 0
	}
	if !assert.Eventually(s.t, found, sessionTimeout, 10*time.Millisecond) {
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Contains(s.t, s.buffer.String()[s.read:], want)
	}
}

// end waits for the end.
func (s sitting) end() {
	s.t.Helper()
	require.NoError(s.t, wait(s.t, s.ended, "the end"))
}

func (s sitting) quit() {
	s.t.Helper()
	s.press("q")
	s.end()
}

func TestLearningGoesFromOneExerciseToTheNext(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	t.Setenv("EDITOR", "echo edits")
	s := l.learn(t.Context())
	s.next("1-lost: Something is lost (level 1, about 5 minutes)\n\n  lesson    01-sums/README.md, step 1 of 2: Make a\n  the task  .workshop/1-lost/01-sums/lesson/exercises/lost/README.md\n  read      .workshop/1-lost/01-sums/sum/sum.go\n")
	s.next("fails: TestSum/of_two")
	s.next("Not yet: 0 of 1 pass. For a hint: h\n")
	s.next("[0 of 3 exercises, 0 of 2 lesson steps] 1-lost: waiting for you to save a file")
	assert.Zero(t, l.progress().of("1-lost").Tries, "nobody has tried anything")

	s.press("h")
	s.next("Hint 1 of 2\n\nLook at sum/sum.go.\n\n1 hint is left: h\n")
	s.press("l")
	s.next("* 1      lost")
	s.press("c")
	s.next("01-sums/README.md, step 1 of 2: Make a\n  not yet: there is no a\n")
	repositorytest.Write(t, l.home.Path("01-sums", "a"), "")
	s.press("c")
	s.next("step 1 of 2: Make a\n  done\n")
	s.press("o")
	s.next("edits .workshop/1-lost/01-sums/sum/sum.go .workshop/1-lost/01-sums/lesson/exercises/lost/README.md\n")
	s.press("?")
	s.next("h hint")

	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go"), "total = n", "total = -n")
	s.next("the sum is -2, not 3")
	s.next("[0 of 3 exercises, 1 of 2 lesson steps]")
	s.press("r")
	s.next("Reset 1-lost? Your changes are kept as a patch. (y or n)")
	s.press("n")
	s.next("Nothing was reset.")
	s.press("r")
	s.press("y")
	s.next("kept in .workshop/1-lost-1.patch")
	s.next("the sum is 2, not 3")
	s.next("waiting for you")

	l.solve()
	s.next("Well done, it is solved. What was wrong, and why it matters: bin/workshop solution 1-lost\n")
	s.next("1-smallest: Something is smallest")
	s.next("[1 of 3 exercises, 1 of 2 lesson steps] 1-smallest")
	s.press("n")
	s.next("1-silent: Something is silent")
	s.press("q") // also while the tests run
	s.next("To continue: make learn\n")
	s.end()
	progress := l.progress()
	assert.Equal(t, "1-silent", progress.Current)
	assert.Equal(t, map[string][]int{"1": {1}}, progress.Steps)
	assert.Positive(t, progress.of("1-lost").Tries)

	// It goes on where one was, and without keys, until the context ends.
	ctx, cancel := context.WithCancel(t.Context())
	s = l.learn(ctx)
	require.NoError(t, s.keys.Close())
	s.next("1-silent: Something is silent")
	cancel()
	s.end()
}

func TestASaveEndsATrialOfOlderCode(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	sum, begun := l.copyPath("1-lost", "01-sums", "sum", "sum.go"), filepath.Join(t.TempDir(), "begun")
	broken, err := os.ReadFile(sum)
	require.NoError(t, err)
	endless := fmt.Sprintf("total = n\n\t\tfor {\n\t\t\t_ = os.WriteFile(%q, nil, 0o600)\n\t\t}", begun)
	repositorytest.Write(t, sum, strings.NewReplacer("package sum\n", "package sum\n\nimport \"os\"\n", "total = n", endless).Replace(string(broken)))
	s := l.learn(t.Context())
	s.next("Running the tests on the code as it stands ...")
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, sessionTimeout, 10*time.Millisecond, "the older code runs")
	repositorytest.Write(t, sum, strings.Replace(string(broken), "total = n", "total = total + n", 1))
	s.next("You have saved a file meanwhile: the tests begin again.")
	s.next("Well done, it is solved.")
	s.quit()
}

func TestLearningGoesFromOneGroupToTheNext(t *testing.T) {
	l := newLearner(t)
	exercisetest.AddBuild(t, l.home)
	l.mustStart("1", "build")
	s := l.learn(t.Context())
	s.next("1-build: Write a sum")
	s.next("  write in  .workshop/1-build/01-sums/sum/sum.go\n")
	s.next("Not yet: 0 of 2 groups pass. For a hint: h")
	file := l.copyPath("1-build", "01-sums", "sum", "sum.go")
	exercisetest.Edit(t, file, "func Sum(numbers ...int) int { return 0 }", "func Sum(numbers ...int) (total int) {\n\tfor _, n := range numbers {\n\t\ttotal += n\n\t}\n\treturn total\n}")
	s.next("1/2 The sum passes. Running the next group ...\n")
	s.next("fails: TestMax (./sum)")
	s.next("Not yet: 1 of 2 groups pass. For a hint: h")
	assert.Equal(t, 1, l.progress().of("1-build").Tries, "one save is one try")
	exercisetest.Edit(t, file, "func Max(numbers ...int) int { return 0 }", "func Max(numbers ...int) int { return 3 }")
	s.next("Well done, it is solved. The workshop's code, and the reasons for it: bin/workshop solution 1-build\n")
	s.next("waiting for you")
	s.quit()
}

func TestStepsOfLessonsAreRecorded(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	step := func(l learner, args ...string) (string, error) {
		var out bytes.Buffer
		args = append(args, "", "")
		err := l.open(&out).step(t.Context(), args[0], args[1])
		return out.String(), err
	}
	out, err := step(l)
	require.ErrorIs(t, err, ErrNotYet)
	assert.Equal(t, "01-sums/README.md, step 1 of 2: Make a\n  not yet: there is no a\n", out)
	repositorytest.Write(t, l.home.Path("01-sums", "b"), "")
	out, err = step(l, "1", "2")
	require.NoError(t, err)
	assert.Contains(t, out, "step 2 of 2: Make b\n  done\n")
	repositorytest.Write(t, l.home.Path("01-sums", "a"), "")
	_, err = step(l.in("01-sums"))
	require.NoError(t, err)
	out, err = step(l)
	require.NoError(t, err)
	assert.Equal(t, "All steps are done.\n", out)
	assert.Equal(t, map[string][]int{"1": {1, 2}}, l.progress().Steps)
	_, err = step(l, "7")
	require.EqualError(t, err, `there is no lesson "7"; the lessons are: 1`)
	_, err = step(l, "1", "3")
	require.EqualError(t, err, "the lesson 1 has no step 3; it has 2")
}

func TestAStepIsCheckedInTheLearnersLab(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	repositorytest.Write(t, l.home.Path("01-sums", "lesson", "checks", "step1.sh"), "echo \"in ${KUBECONFIG:-no lab}\"\nexit 1 # kubectl\n")
	elsewhere := t.TempDir()
	for _, lab := range []struct{ variable, folder string }{{"", l.home.Path(".lab")}, {elsewhere, elsewhere}} {
		t.Setenv("LAB_DIR", lab.variable)
		kubeconfig := filepath.Join(lab.folder, "kubeconfig")
		repositorytest.Write(t, kubeconfig, "")
		for _, named := range []string{"", kubeconfig} {
			t.Setenv("KUBECONFIG", named)
			var out bytes.Buffer
			require.ErrorIs(t, l.open(&out).step(t.Context(), "1", "1"), ErrNotYet)
			assert.Contains(t, out.String(), "not yet: in "+kubeconfig+"\n")
			assert.NotContains(t, out.String(), "the lab")
		}
	}
	for _, named := range []string{"/another", ""} {
		t.Setenv("KUBECONFIG", named)
		t.Setenv("LAB_DIR", t.TempDir())
		var out bytes.Buffer
		require.ErrorIs(t, l.open(&out).step(t.Context(), "1", "1"), ErrNotYet)
		assert.Contains(t, out.String(), map[bool]string{true: "The lab was never started", false: "KUBECONFIG=/another"}[named == ""])
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	assert.Nil(t, openTerminal(file))
	assert.False(t, isTerminal(file))
	assert.False(t, isTerminal(&bytes.Buffer{}))
	var none *terminal
	none.byKey()
	none.restore()
}

func TestAKeyIsReadOnlyWhenSomebodyAsks(t *testing.T) {
	reader, writer := io.Pipe()
	ask, keys := keys(reader, false)
	ask()
	_, err := io.WriteString(writer, "H")
	require.NoError(t, err)
	assert.Equal(t, 'h', wait(t, keys, "h"))
	read := make(chan struct{})
	go func() {
		_, _ = io.WriteString(writer, "x")
		close(read)
	}()
	select {
	case <-read:
		assert.Fail(t, "nobody has asked")
	case <-time.After(10 * time.Millisecond):
	}
	ask()
	assert.Equal(t, 'x', wait(t, keys, "x"))
}
