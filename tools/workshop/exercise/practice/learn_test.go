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

// next waits for a text after what was waited for before.
func (o *output) next(t *testing.T, want string) {
	t.Helper()
	found := func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		i := strings.Index(o.buffer.String()[o.read:], want)
		if i >= 0 {
			o.read += i + len(want)
		}
		return i >= 0
	}
	if !assert.Eventually(t, found, sessionTimeout, 10*time.Millisecond) {
		o.mu.Lock()
		defer o.mu.Unlock()
		require.Contains(t, o.buffer.String()[o.read:], want)
	}
}

// learn runs a session. What is written are its keys.
func (l learner) learn(ctx context.Context) (out *output, keys io.WriteCloser, ended <-chan error) {
	l.Helper()
	out = &output{}
	p := l.open(nil)
	p.out = out
	reader, writer := io.Pipe()
	l.Cleanup(func() { _ = writer.Close() })
	done := make(chan error, 1)
	go func() { done <- p.learn(ctx, reader, nil, sessionTimeout) }()
	return out, writer, done
}

// pressing returns what presses a key of a session: its input has a line for each.
func pressing(t *testing.T, keys io.Writer) func(key string) {
	return func(key string) {
		t.Helper()
		_, err := io.WriteString(keys, key+"\n")
		require.NoError(t, err)
	}
}

func TestLearningGoesFromOneExerciseToTheNext(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	t.Setenv("EDITOR", "echo edits")
	out, keys, ended := l.learn(t.Context())
	press := pressing(t, keys)
	out.next(t, "1-lost: Something is lost (level 1, about 5 minutes)\n\n  lesson    01-sums/README.md, step 1 of 2: Make a\n  the task  .workshop/1-lost/01-sums/lesson/exercises/lost/README.md\n  read      .workshop/1-lost/01-sums/sum/sum.go\n")
	out.next(t, "fails: TestSum/of_two")
	out.next(t, "Not yet: 0 of 1 pass. For a hint: h\n")
	out.next(t, "[0 of 3 exercises, 0 of 2 lesson steps] 1-lost: waiting for you to save a file")
	assert.Zero(t, l.progress().of("1-lost").Tries, "nobody has tried anything")

	press("h")
	out.next(t, "Hint 1 of 2\n\nLook at sum/sum.go.\n\n1 hint is left: h\n")
	press("l")
	out.next(t, "* 1      lost")
	press("c")
	out.next(t, "01-sums/README.md, step 1 of 2: Make a\n  not yet: there is no a\n")
	repositorytest.Write(t, l.home.Path("01-sums", "a"), "")
	press("c")
	out.next(t, "step 1 of 2: Make a\n  done\n")
	press("o")
	out.next(t, "edits .workshop/1-lost/01-sums/sum/sum.go .workshop/1-lost/01-sums/lesson/exercises/lost/README.md\n")
	press("?")
	out.next(t, "h hint")

	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go"), "total = n", "total = -n")
	out.next(t, "the sum is -2, not 3")
	out.next(t, "[0 of 3 exercises, 1 of 2 lesson steps]")
	press("r")
	out.next(t, "Reset 1-lost? Your changes are kept as a patch. (y or n)")
	press("n")
	out.next(t, "Nothing was reset.")
	press("r")
	press("y")
	out.next(t, "kept in .workshop/1-lost-1.patch")
	out.next(t, "the sum is 2, not 3")
	out.next(t, "waiting for you")

	l.solve()
	out.next(t, "Well done, it is solved. What was wrong, and why it matters: bin/workshop solution 1-lost\n")
	out.next(t, "1-smallest: Something is smallest")
	out.next(t, "[1 of 3 exercises, 1 of 2 lesson steps] 1-smallest")
	press("n")
	out.next(t, "1-silent: Something is silent")
	press("q") // also while the tests run
	out.next(t, "To continue: make learn\n")
	require.NoError(t, wait(t, ended, "the end"))
	progress := l.progress()
	assert.Equal(t, "1-silent", progress.Current)
	assert.Equal(t, map[string][]int{"1": {1}}, progress.Steps)
	assert.Positive(t, progress.of("1-lost").Tries)

	// It goes on where one was, and without keys, until the context ends.
	ctx, cancel := context.WithCancel(t.Context())
	out, keys, ended = l.learn(ctx)
	require.NoError(t, keys.Close())
	out.next(t, "1-silent: Something is silent")
	cancel()
	require.NoError(t, wait(t, ended, "the end"))
}

func TestASaveEndsATrialOfOlderCode(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	sum, begun := l.copyPath("1-lost", "01-sums", "sum", "sum.go"), filepath.Join(t.TempDir(), "begun")
	broken, err := os.ReadFile(sum)
	require.NoError(t, err)
	endless := fmt.Sprintf("total = n\n\t\tfor {\n\t\t\t_ = os.WriteFile(%q, nil, 0o600)\n\t\t}", begun)
	repositorytest.Write(t, sum, strings.NewReplacer("package sum\n", "package sum\n\nimport \"os\"\n", "total = n", endless).Replace(string(broken)))
	out, keys, ended := l.learn(t.Context())
	out.next(t, "Running the tests on the code as it stands ...")
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, sessionTimeout, 10*time.Millisecond, "the older code runs")
	repositorytest.Write(t, sum, strings.Replace(string(broken), "total = n", "total = total + n", 1))
	out.next(t, "You have saved a file meanwhile: the tests begin again.")
	out.next(t, "Well done, it is solved.")
	pressing(t, keys)("q")
	require.NoError(t, wait(t, ended, "the end"))
}

func TestLearningGoesFromOneGroupToTheNext(t *testing.T) {
	l := newLearner(t)
	exercisetest.AddBuild(t, l.home)
	l.mustStart("1", "build")
	out, keys, ended := l.learn(t.Context())
	out.next(t, "1-build: Write a sum")
	out.next(t, "  write in  .workshop/1-build/01-sums/sum/sum.go\n")
	out.next(t, "Not yet: 0 of 2 groups pass. For a hint: h")
	file := l.copyPath("1-build", "01-sums", "sum", "sum.go")
	exercisetest.Edit(t, file, "func Sum(numbers ...int) int { return 0 }", "func Sum(numbers ...int) (total int) {\n\tfor _, n := range numbers {\n\t\ttotal += n\n\t}\n\treturn total\n}")
	out.next(t, "1/2 The sum passes. Running the next group ...\n")
	out.next(t, "fails: TestMax (./sum)")
	out.next(t, "Not yet: 1 of 2 groups pass. For a hint: h")
	assert.Equal(t, 1, l.progress().of("1-build").Tries, "one save is one try")
	exercisetest.Edit(t, file, "func Max(numbers ...int) int { return 0 }", "func Max(numbers ...int) int { return 3 }")
	out.next(t, "Well done, it is solved. The workshop's code, and the reasons for it: bin/workshop solution 1-build\n")
	out.next(t, "waiting for you")
	_, err := io.WriteString(keys, "q\n")
	require.NoError(t, err)
	require.NoError(t, wait(t, ended, "the end"))
}

func TestStepsOfLessonsAreRecorded(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	step := func(args ...string) (string, error) {
		var out bytes.Buffer
		args = append(args, "", "")
		err := l.open(&out).step(t.Context(), args[0], args[1])
		return out.String(), err
	}
	out, err := step()
	require.ErrorIs(t, err, ErrNotYet)
	assert.Equal(t, "01-sums/README.md, step 1 of 2: Make a\n  not yet: there is no a\n", out)
	repositorytest.Write(t, l.home.Path("01-sums", "b"), "")
	out, err = step("1", "2")
	require.NoError(t, err)
	assert.Contains(t, out, "step 2 of 2: Make b\n  done\n")
	repositorytest.Write(t, l.home.Path("01-sums", "a"), "")
	_, err = l.in("01-sums").stepHere()
	require.NoError(t, err)
	out, err = step()
	require.NoError(t, err)
	assert.Equal(t, "All steps are done.\n", out)
	assert.Equal(t, map[string][]int{"1": {1, 2}}, l.progress().Steps)
	_, err = step("7")
	require.EqualError(t, err, `there is no lesson "7"; the lessons are: 1`)
	_, err = step("1", "3")
	require.EqualError(t, err, "the lesson 1 has no step 3; it has 2")
}

func TestAStepIsCheckedInTheLearnersLab(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	repositorytest.Write(t, l.home.Path("01-sums", "lesson", "checks", "step1.sh"), "echo \"in ${KUBECONFIG:-no lab}\"\nexit 1 # kubectl\n")
	elsewhere := t.TempDir()
	for _, lab := range []struct{ variable, folder string }{{"", l.home.Path(".lab")}, {elsewhere, elsewhere}} {
		t.Setenv("KUBECONFIG", "")
		t.Setenv("LAB_DIR", lab.variable)
		kubeconfig := filepath.Join(lab.folder, "kubeconfig")
		repositorytest.Write(t, kubeconfig, "")
		var out bytes.Buffer
		require.ErrorIs(t, l.open(&out).step(t.Context(), "1", "1"), ErrNotYet)
		assert.Contains(t, out.String(), "not yet: in "+kubeconfig+"\n")
		assert.NotContains(t, out.String(), "the lab")
	}
	for _, named := range []string{"/another", ""} {
		t.Setenv("KUBECONFIG", named)
		t.Setenv("LAB_DIR", t.TempDir())
		var out bytes.Buffer
		require.ErrorIs(t, l.open(&out).step(t.Context(), "1", "1"), ErrNotYet)
		assert.Contains(t, out.String(), map[bool]string{true: "The lab was never started", false: "KUBECONFIG=/another"}[named == ""])
	}
}

func (l learner) stepHere() (string, error) {
	l.Helper()
	var out bytes.Buffer
	err := l.open(&out).step(l.Context(), "", "")
	return out.String(), err
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
