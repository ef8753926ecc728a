package practice

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// building is a recipe for a lab that waits until it is let go.
const building = "trap 'echo interrupted >&2; >tidied; exit 130' INT; echo compiling; echo $$$$ >pid; until [ -e go ]; do sleep 0.01; done; mkdir -p lab/bin; touch lab/bin/kube-apiserver"

// newLearnerWithoutLab is one whose first exercise needs the lab.
func newLearnerWithoutLab(t *testing.T, recipe string) learner {
	t.Helper()
	t.Setenv("KUBEBUILDER_ASSETS", "")
	l := newLearner(t)
	exercisetest.NeedLab(t, l.home, recipe)
	return l
}

func (l learner) letGo() { repositorytest.Write(l, l.home.Path("go"), "") }

func TestTheLabIsBuiltWhileOthersAreSolved(t *testing.T) {
	l := newLearnerWithoutLab(t, building)
	s := l.learn(t.Context())
	s.next("1-lost: Something is lost (level 1, about 5 minutes)\n")
	s.next("The tests of 1-lost need an API server, so the lab is built first: that takes minutes, once.\n")
	s.next("Meanwhile, n goes to an exercise that needs none: 1-smallest, 1-silent\n")
	s.press("h")
	s.next("Hint 1 of 2")
	s.press("n")
	s.next("1-smallest: Something is smallest")
	s.next("fails: TestMax")
	s.next("waiting for you")
	assert.False(t, l.open(nil).hasLab())
	s.press("n")
	s.next("1-silent: Something is silent")
	s.press("n")
	s.next("1-smallest: Something is smallest")
	s.press("n")
	s.next("1-silent: Something is silent")

	l.letGo()
	require.Eventually(t, l.open(nil).hasLab, exercisetest.Timeout, 10*time.Millisecond)
	s.press("n")
	s.next("1-lost: Something is lost")
	s.next("fails: TestSum/of_two")
	s.quit()
	assert.Contains(t, s.text(), "compiling\n", "what the build prints")
}

func TestAnExerciseWaitsForTheLabThatItNeeds(t *testing.T) {
	l := newLearnerWithoutLab(t, building)
	_, _, _, err := l.open(&bytes.Buffer{}).begin(t.Context(), "1", "lost")
	require.NoError(t, err)
	l.solve()
	s := l.learn(t.Context())
	s.next("Meanwhile, n goes to")
	l.letGo()
	s.next("Well done, it is solved.")
	s.next("1-smallest")
	assert.NotContains(t, s.text(), "fails: TestSum")
	select {
	case err := <-s.ended:
		assert.Fail(t, "it ended", err)
	default:
	}
}

func TestWithoutALabTheOthersCanBeSolved(t *testing.T) {
	l := newLearnerWithoutLab(t, "echo there is no disk; exit 3")
	s := l.learn(t.Context())
	s.next("the lab could not be built (make lab: exit status 2); what it printed says why.\n")
	s.next("1-smallest: Something is smallest")
	s.next("fails: TestMax")
	assert.Contains(t, s.text(), "there is no disk\n")
	for _, name := range []string{"smallest", "silent"} {
		require.NoError(t, l.open(nil).record("1-"+name, func(r *Record) { r.Solved = now() }))
	}
	s.press("n")
	s.next("All other exercises need the lab. To see what is wrong with it: make lab\n")
	s.end()
}

func TestTheEndOfASessionIsThatOfTheBuild(t *testing.T) {
	l := newLearnerWithoutLab(t, building)
	ctx, cancel := context.WithCancel(t.Context())
	s := l.learn(ctx)
	s.next("compiling")
	var pid int
	require.Eventually(t, func() bool {
		content, _ := os.ReadFile(l.home.Path("pid"))
		var err error
		pid, err = strconv.Atoi(strings.TrimSpace(string(content)))
		return err == nil
	}, exercisetest.Timeout, 10*time.Millisecond)
	cancel()
	s.end()
	s.next("To continue: make learn")
	assert.FileExists(t, l.home.Path("tidied"), "it was interrupted, and not killed")
	assert.NotContains(t, s.text(), "interrupted")
	assert.NotContains(t, s.text(), "make: ***")
	// luck: a child of the test, which waits for it
	assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, exercisetest.Timeout, 10*time.Millisecond)
}

func TestCommandsBuildTheLabThatAnExerciseNeeds(t *testing.T) {
	l := newLearnerWithoutLab(t, "[ -e go ] || exit 1; mkdir -p lab/bin; touch lab/bin/kube-apiserver")
	out, err := l.start("1", "lost")
	require.EqualError(t, err, "the lab could not be built (make lab: exit status 2); what it printed says why")
	assert.Contains(t, out, "Read the task:")
	assert.Contains(t, out, "The tests of 1-lost need an API server, so the lab is built first: that takes minutes, once.\nThese need none: 1-smallest, 1-silent\n")
	_, err = l.check("")
	require.ErrorContains(t, err, "the lab could not be built")
	assert.Zero(t, l.progress().of("1-lost").Tries, "nothing was judged")

	assert.NotContains(t, l.mustStart("1", "smallest"), "the lab")
	out, err = l.check("smallest")
	require.ErrorIs(t, err, ErrNotYet)
	assert.NotContains(t, out, "the lab")

	l.letGo()
	out, err = l.check("lost")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "so the lab is built first")
	assert.Contains(t, out, "fails: TestSum/of_two")
	out, err = l.check("lost")
	require.ErrorIs(t, err, ErrNotYet)
	assert.NotContains(t, out, "the lab")
}

func TestAFewExercisesStandForMany(t *testing.T) {
	l := newLearnerWithoutLab(t, building)
	others := l.open(nil).withoutLab(t.Context())
	require.Len(t, others, 2)
	assert.Equal(t, "1-smallest, 1-silent", some(others))
	for len(others) < 9 {
		others = append(others, others[1])
	}
	assert.Equal(t, "1-smallest, 1-silent, 1-silent, 1-silent, 1-silent, 1-silent, and 3 more", some(others))
}

func TestTheNextExerciseIsOneThatIsWanted(t *testing.T) {
	l := newLearner(t)
	all, _, err := exercise.All(l.home)
	require.NoError(t, err)
	wants := func(names ...string) func(exercise.Exercise) bool {
		return func(e exercise.Exercise) bool { return slices.Contains(names, e.Name) }
	}
	for from, want := range map[string]string{"lost": "smallest", "smallest": "lost", "silent": "lost", "none": "lost"} {
		next, ok := after(exercise.Exercise{Stage: all[0].Stage, Name: from}, all, wants("lost", "smallest"))
		assert.True(t, ok)
		assert.Equal(t, want, next.Name, from)
	}
	_, ok := after(all[0], all, wants())
	assert.False(t, ok)
}

func TestOutsideATerminalNoLineIsCleared(t *testing.T) {
	var out bytes.Buffer
	s := &screen{Writer: &out}
	s.status.Store(true)
	_, err := io.WriteString(s, "Hint 1\n")
	require.NoError(t, err)
	assert.Equal(t, "Hint 1\n", out.String())
}
