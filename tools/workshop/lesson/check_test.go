package lesson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/isolate"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/testenv"
)

func TestPartsAreLessons(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	out, err := f.check()
	require.NoError(t, err, out)
	assert.Regexp(t, `(?m)^stage 3/sum, step 2 of 2: Write again \.\.\. \d+s$`, out)
	assert.Regexp(t, `stage 3/log: passed in \d+s\nstage 3/sum: passed in \d+s\nlessons: 2 passed, 0 failed\n$`, out)
	assert.Equal(t, "up reset up reset", f.asked(), "each has a lab of its own")
}

// So a part can be tried while others, or the map, are not of the form yet.
func TestOnlyThePartThatIsRunMustBeOfTheForm(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	f.files["03-watch/README.md"] = "# Nothing yet\n"
	f.files["03-watch/log/README.md"] = "# Nothing yet\n"
	out, err := f.check("3/sum")
	require.NoError(t, err, out)
	assert.Regexp(t, `stage 3/sum: passed in \d+s\nlessons: 1 passed, 0 failed\n$`, out)
	out, err = f.check("3/product")
	require.Error(t, err)
	assert.Contains(t, out, "reading the lesson of stage 3/product: ")
}

func TestAWrongMapIsSaidBeforeItsPartsAreRun(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	delete(f.files, "03-watch/sum/README.md")
	out, err := f.check("3")
	require.EqualError(t, err, "03-watch/README.md:9: there is no lesson 03-watch/sum/README.md; write it, or remove the link")
	assert.Empty(t, out)
	assert.Empty(t, f.asked())
}

// As in the reader's shell. The next step begins with a new one.
func TestABlockHasWhatTheBlocksBeforeItHave(t *testing.T) {
	f := newFixture(t)
	f.readme("echo one >", "name=nothing; echo one >")
	f.readme("echo two > two.txt", "name=${name:-two.txt}; (exit 3) & job=$!")
	f.readme("false;", "wait $job; [ $? = 3 ] && echo two > $name; false;")
	out, err := f.check()
	require.NoError(t, err, out)
}

func TestTheTriesOfASkeletonAreSolvedOnTheWay(t *testing.T) {
	const patch = "--- a/03-watch/main.txt\n+++ b/03-watch/main.txt\n@@ -1 +1 @@\n-%s\n+%s\n"
	const folder = "03-watch/lesson/exercises/tries/"
	f := newFixture(t)
	f.files["03-watch/main.txt"] = "solved\n"
	f.files[folder+"judge.yaml"] = "kind: try\nwrite: [main.txt]\ngroups:\n- {name: fill, minutes: 1, hint: Do., tests: [{package: ., test: TestIt, output: no, because: So.}]}\n"
	f.files["03-watch/main_test.go"] = "package main\n\nfunc TestIt(t *testing.T) {}\n"
	f.files[folder+"break.patch"] = fmt.Sprintf(patch, "solved", "skeleton")
	f.files[folder+"fill.patch"] = fmt.Sprintf(patch, "skeleton", "solved")
	f.readme("echo one >", "grep skeleton main.txt && echo one >")
	f.readme("Twice:\n", "Twice:\n\n**Now you:** `fill`. Write.\n")
	f.readme("false;", "grep solved main.txt || rm two.txt; false;")
	out, err := f.check()
	require.NoError(t, err, out)
}

func TestALessonPasses(t *testing.T) {
	f := newFixture(t)
	out, err := f.check()
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^stage 3, step 1 of 2: Write \.\.\. \d+s$`, out)
	assert.Regexp(t, `(?m)^stage 3, step 2 of 2: Write again \.\.\. \d+s$`, out)
	assert.Regexp(t, `(?m)^stage 3: passed in \d+s$`, out)
	assert.True(t, strings.HasSuffix(out, "\nlessons: 1 passed, 0 failed\n"), out)
	assert.Equal(t, "up reset", f.asked())
	assert.Empty(t, f.left())
}

func TestAFailureSaysWhichAndWhereAndWhy(t *testing.T) {
	tests := map[string]struct {
		edit func(*fixture)
		want []string
	}{
		"a command that is not there": {
			func(f *fixture) { f.readme("echo two", "true\necho-two") },
			[]string{
				"stage 3, step 2 of 2: Write again ... failed after",
				"03-watch/README.md:24: stage 3, step 2: a command was not found: bash: line 2: echo-two: command not found",
				"this, in 03-watch/README.md:22, ended with exit code 127\n    true\n    echo-two > two.txt\n",
			},
		},
		"a command that is not there, with others after it": {
			func(f *fixture) { f.readme("echo two", "./two\necho two") },
			[]string{"03-watch/README.md:23: stage 3, step 2: a command was not found: bash: line 1: ./two: No such file or directory"},
		},
		"a command that is not there, and whose output nobody sees": {
			func(f *fixture) { f.readme("echo two > two.txt", "./two > /dev/null 2>&1") },
			[]string{"03-watch/README.md:22: stage 3, step 2: the block ended with exit code 127: a command was not found"},
		},
		"a command that may not be executed": {
			func(f *fixture) { f.readme("echo two > two.txt", "touch two.txt; ./two.txt 2> /dev/null") },
			[]string{"03-watch/README.md:22: stage 3, step 2: the block ended with exit code 126: a command could not be executed"},
		},
		"a block that is not bash": {
			func(f *fixture) { f.readme("echo two", "if; echo two") },
			[]string{
				"03-watch/README.md:22: stage 3, step 2: the block is not correct bash",
				"syntax error",
			},
		},
		"a check that passes too early": {
			func(f *fixture) { f.files["03-watch/lesson/checks/step2.sh"] = "echo done\n" },
			[]string{"03-watch/README.md:18: stage 3, step 2: lesson/checks/step2.sh passes before the step was done; it must fail until then"},
		},
		"a check that does not say what is missing": {
			func(f *fixture) { f.files["03-watch/lesson/checks/step2.sh"] = "test -f two.txt\n" },
			[]string{"03-watch/README.md:18: stage 3, step 2: lesson/checks/step2.sh fails before the step, as it should, but does not say what is missing"},
		},
		"a check that fails after the step": {
			func(f *fixture) { f.readme("echo two > two.txt", "echo two > three.txt; echo sorry; (exit 4)") },
			[]string{
				"03-watch/README.md:18: stage 3, step 2: lesson/checks/step2.sh fails after the step (exit code 1): two.txt is not there yet",
				"this, in 03-watch/README.md:22, ended with exit code 4\n    echo two > three.txt; echo sorry; (exit 4)\nand printed:\n    sorry\n",
				"this, in 03-watch/README.md:26, ended with exit code 0\n",
				"and printed:\n    exit code 1\n",
			},
		},
		"a long output": {
			func(f *fixture) { f.readme("echo two > two.txt", "seq 1 250") },
			[]string{"and printed:\n    (150 lines before these)\n    151\n", "    250\nthis, in"},
		},
		"a step that hangs": {
			func(f *fixture) {
				f.timeout = time.Second
				f.readme("echo two", "echo waiting; sleep 600 & sleep 601; echo two")
			},
			[]string{
				"03-watch/README.md:22: stage 3, step 2: the block did not end within 1s, and was killed; it was running: sleep 600; sleep 601\n",
				"was killed\n    echo waiting;",
				"and printed:\n    waiting\n",
			},
		},
		"a step that compiles and hangs": {
			func(f *fixture) {
				f.timeout = time.Second
				f.readme("echo two", "false && go -C ../tools build ./...; sleep 600; echo two")
			},
			[]string{"the block did not end within 3s, and was killed; it was running: sleep 600\n"},
		},
		"a check that hangs": {
			func(f *fixture) {
				f.timeout = time.Second
				f.files["03-watch/lesson/checks/step2.sh"] = "sleep 600\n"
			},
			[]string{"03-watch/README.md:18: stage 3, step 2: lesson/checks/step2.sh did not end within 1s, before the step; it was running: sh lesson/checks/step2.sh; sleep 600\n"},
		},
		"a check that hangs after the step": {
			func(f *fixture) {
				f.timeout = time.Second
				f.files["03-watch/lesson/checks/step2.sh"] = "if [ -f two.txt ]; then sleep 600; fi; echo not yet; exit 1\n"
			},
			[]string{"03-watch/README.md:18: stage 3, step 2: lesson/checks/step2.sh did not end within 1s, after the step; it was running: "},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.edit(f)
			out, err := f.check("3")
			require.EqualError(t, err, "1 of 1 lessons failed; the reasons are above")
			for _, want := range test.want {
				assert.Contains(t, out, want)
			}
			assert.Regexp(t, `(?m)^stage 3: failed after \d+s: 03-watch/README\.md:\d+: stage 3, step 2: `, out)
			assert.True(t, strings.HasSuffix(f.asked(), "reset"), f.asked())
			assert.Empty(t, f.left())
		})
	}
}

func TestAWrongFormIsSaidBeforeAnythingIsStarted(t *testing.T) {
	f := newFixture(t)
	f.readme("## Exercises", "## Training")
	out, err := f.check()
	require.Error(t, err)
	assert.Contains(t, out, `03-watch/README.md:30: the heading is "## Training", and the form wants "## Exercises" here`)
	assert.Empty(t, f.asked())
}

func TestTheNextLessonIsRunAfterOneThatFails(t *testing.T) {
	f := newFixture(t)
	for name, content := range map[string]string{"go.mod": "module more\n", "README.md": passing, "lesson/checks/step1.sh": check("one.txt"), "lesson/checks/step2.sh": check("two.txt")} {
		f.files["04-queue/"+name] = content
	}
	f.files["03-watch/lesson/checks/step1.sh"] = "echo done\n"
	out, err := f.check()
	require.EqualError(t, err, "1 of 2 lessons failed; the reasons are above")
	assert.Regexp(t, `stage 4: passed in \d+s\nstage 3: failed after \d+s: .*\nlessons: 1 passed, 1 failed\n$`, out, "what failed comes last")
	assert.Equal(t, "up reset up reset", f.asked())

	_, err = f.check("5")
	require.EqualError(t, err, "there is no stage 5 here; there is: 3, 4")
}

func TestWhatHasPassedIsNotRunAgain(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	f.files["03-watch/lesson/checks/sum/step1.sh"] = "echo done\n"
	r := f.repository()
	c := f.checker(r)
	run := func() string {
		t.Helper()
		var out bytes.Buffer
		c.Out = &out
		require.EqualError(t, c.Check(t.Context()), "1 of 2 lessons failed; the reasons are above")
		require.NoError(t, os.RemoveAll(f.log))
		return out.String()
	}
	assert.Regexp(t, `(?m)^stage 3/log: passed in `, run())
	assert.Regexp(t, `(?m)^stage 3/log: passed in `, run(), "who asks for a lesson gets it")
	c.Cached = true
	out := run()
	assert.Contains(t, out, "\nstage 3/log: passed before, and nothing has changed since\nstage 3/sum: failed")
	assert.NotContains(t, out, "stage 3/log, step 1")
	repositorytest.Write(t, r.Path("03-watch", "main.go"), "package main\n")
	assert.Regexp(t, `(?m)^stage 3/log: passed in `, run(), "with what is not committed yet")

	// One that is edited while it runs has passed neither as it was nor as it is.
	edits, edit := 0, c.Network
	c.Network = func() (*isolate.Network, error) {
		edits++
		repositorytest.Write(t, r.Path("03-watch", "main.go"), "package main\n"+strings.Repeat("// edited\n", edits))
		return nil, nil
	}
	run()
	c.Network = edit
	for number := range edits + 1 {
		repositorytest.Write(t, r.Path("03-watch", "main.go"), "package main\n"+strings.Repeat("// edited\n", number))
		if number > 0 {
			assert.Regexp(t, `(?m)^stage 3/log: passed in `, run(), number)
		}
	}
}

func TestWithoutNetworksLessonsAreRunOneAtATime(t *testing.T) {
	f := newFixture(t)
	f.inParts()
	f.jobs = 2
	f.network = func() (*isolate.Network, error) { return nil, errors.New("there are no namespaces") }
	out, err := f.check()
	require.NoError(t, err, out)
	assert.Contains(t, out, "lessons are run one at a time, because they share the network of this machine: there are no namespaces\n")
	assert.Equal(t, "up reset up reset", f.asked())
}

// Each of the two waits for the other.
func TestTwoLessonsAtOnce(t *testing.T) {
	f := newFixture(t)
	meet := t.TempDir()
	f.jobs = 2
	f.network = func() (*isolate.Network, error) { return nil, nil } // also where there is none
	f.readme("echo one", "> '"+meet+"/stage 3'\nfor ((;;)); do [ -e '"+meet+"/stage 4' ] && break; sleep 0.02; done\necho one")
	f.files["04-queue/README.md"] = strings.NewReplacer("stage 3", "stage 4", "stage 4", "stage 3").Replace(f.files["03-watch/README.md"])
	for name, content := range map[string]string{"go.mod": "module more\n", "lesson/checks/step1.sh": check("one.txt"), "lesson/checks/step2.sh": "echo done\n"} {
		f.files["04-queue/"+name] = content
	}
	out, err := f.check()
	require.EqualError(t, err, "1 of 2 lessons failed; the reasons are above")
	assert.Regexp(t, `(?m)^stage 3, step 1 of 2: Write \.\.\. \d+s$`, out)
	assert.Regexp(t, `(?m)^stage 4, step 1 of 2: Write \.\.\. \d+s$`, out)
	assert.Regexp(t, `stage 3: passed in \d+s\nstage 4: failed after \d+s: .*\nlessons: 1 passed, 1 failed\n$`, out)
}

// The first of three finds what the last has written: it begins when one of the other two has ended,
// and the second waits for the last.
func TestTheLastLessonsBeginFirst(t *testing.T) {
	f := newFixture(t)
	written := filepath.Join(t.TempDir(), "written")
	f.jobs = 2
	f.network = func() (*isolate.Network, error) { return nil, nil } // also where there is none
	f.inParts()
	f.nest()
	for part, block := range map[string]string{
		"log":     "[ -e '" + written + "' ] && echo one > one.txt",
		"sum/one": "for ((;;)); do [ -e '" + written + "' ] && break; sleep 0.02; done\necho one > one.txt",
		"sum/two": "> '" + written + "'\necho one > one.txt",
	} {
		path := "03-watch/" + part + "/README.md"
		f.files[path] = strings.Replace(f.files[path], "echo one > one.txt", block, 1)
	}
	out, err := f.check()
	require.NoError(t, err, out)
}

func TestALabThatIsNotBuilt(t *testing.T) {
	f := newFixture(t)
	delete(f.files, "lab/bin/lab")
	out, err := f.check()
	require.Error(t, err)
	assert.Contains(t, out, "make lab")
	assert.Empty(t, f.left())
}

func TestALabThatDoesNotStart(t *testing.T) {
	f := newFixture(t)
	f.files["lab/bin/lab"] = aLab + "if [ $1 = up ]; then echo no port is free; exit 3; fi\n"
	out, err := f.check()
	require.Error(t, err)
	assert.Contains(t, out, "starting the lab of stage 3: lab up ended with exit code 3; it printed:\n    no port is free")
	assert.Equal(t, "up reset", f.asked())
	assert.Empty(t, f.left())
}

func TestALabThatCannotBeEndedIsNotForgotten(t *testing.T) {
	f := newFixture(t)
	f.files["lab/bin/lab"] = aLab + "if [ $1 = reset ]; then exit 3; fi\n"
	out, err := f.check()
	require.Error(t, err)
	assert.Contains(t, out, "lab reset ended with exit code 3")
	assert.Contains(t, out, "and to end the lab: ")
	assert.NotEmpty(t, f.left())
}

func TestACopyIsKept(t *testing.T) {
	f := newFixture(t)
	f.keep = true
	out, err := f.check()
	require.NoError(t, err)
	assert.Contains(t, out, "stage 3: the copy is kept in ")
	assert.Equal(t, "up down", f.asked())
	files, err := filepath.Glob(filepath.Join(f.copies, "3", "slot-1", "*", "03-watch", "two.txt"))
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

// What it leaves has the same path as in the run before, or Go would compile it again.
func TestTheNextRunEndsWhatAnEarlierOneHasLeft(t *testing.T) {
	f := newFixture(t)
	f.keep = true
	_, err := f.check()
	require.NoError(t, err)
	kept := f.left()
	require.Len(t, kept, 1)
	repositorytest.Write(t, filepath.Join(kept[0], "tmp", "more"), "")
	_, err = f.check()
	require.NoError(t, err)
	assert.Equal(t, "up down reset up down", f.asked(), "a run that was killed has not ended its lab")
	assert.Equal(t, kept, f.left())
	assert.NoFileExists(t, filepath.Join(kept[0], "tmp", "more"))
}

func TestTwoRunsOfALessonDoNotMeet(t *testing.T) {
	f := newFixture(t)
	slot, err := repository.TakeSlot(filepath.Join(f.copies, "3"))
	require.NoError(t, err)
	defer slot.Free()
	mine := filepath.Join(slot.Dir, "mine")
	repositorytest.Write(t, mine, "")
	_, err = f.check()
	require.NoError(t, err)
	assert.FileExists(t, mine)
}

func TestABlockRunsAsInTheReadersShell(t *testing.T) {
	f := newFixture(t)
	t.Setenv("LAB_DIR", "/of/another/lab")
	f.readme("echo two", "[ -z \"$LAB_DIR\" ] && [ \"$GOWORK\" = off ] && case $KUBECONFIG,$KUBEBUILDER_ASSETS,$(command -v lab) in */.lab/kubeconfig,*/lab/bin,*/lab/bin/lab) true;; *) false;; esac && grep -q 'name: timeout' \"$KUBERC\" && ! read -r line && git diff --quiet && echo two")
	_, err := f.check()
	require.NoError(t, err)
}

// What a block leaves in the background is there for the next one, and gone after the
// lesson. It has the output open all the time, which holds up nobody.
func TestWhatIsLeftInTheBackgroundEndsWithTheLesson(t *testing.T) {
	f := newFixture(t)
	pids := filepath.Join(t.TempDir(), "pids")
	f.readme("echo one > one.txt", "sleep 3600 &\necho $! > '"+pids+"'; echo one > one.txt")
	f.readme("echo two > two.txt", "kill -0 $(cat '"+pids+"') && echo two > two.txt")
	_, err := f.check() // which does not wait for an hour
	require.NoError(t, err)
	testenv.RequireGone(t, pids)
}

func TestAnInterruptLeavesNothingBehind(t *testing.T) {
	f := newFixture(t)
	pids := filepath.Join(t.TempDir(), "pids")
	f.readme("echo two", "sleep 600 & echo $! > '"+pids+"'; sleep 600; echo two")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r := f.repository()
	ended := make(chan error, 1)
	go func() {
		c := f.checker(r)
		c.Out, c.Timeout = &strings.Builder{}, f.timeout*10
		ended <- c.Check(ctx)
	}()
	require.Eventually(t, func() bool { ids, err := os.ReadFile(pids); return err == nil && len(ids) > 0 }, testenv.Timeout(), 10*time.Millisecond)
	interrupt()
	select {
	case err := <-ended:
		require.ErrorContains(t, err, "interrupted")
	case <-time.After(testenv.Timeout()):
		require.Fail(t, "it goes on after the interrupt")
	}
	assert.Equal(t, "up reset", f.asked())
	assert.Empty(t, f.left())
	testenv.RequireGone(t, pids)
}
