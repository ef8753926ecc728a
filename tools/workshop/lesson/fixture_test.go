package lesson

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/isolate"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/testenv"
)

// passing is a lesson in which all is well.
const passing = "# Stage 3: listen\n\nAbout it.\n\n" +
	"## Why\n\nA file.\n\n" +
	"## Step 1: Write\n\n```bash exec\necho one > one.txt\n```\n\n```sh\n```\n\n" +
	"## Step 2: Write again\n\nTwice:\n\n```bash exec\necho two > two.txt\n```\n\n```bash exec lab\nfalse; echo \"exit code $?\"\n```\n\n" +
	"## Exercises\n\n1. Write more.\n\n## In production\n\nNothing.\n\n## What comes next\n\nStage 4.\n"

// check is a check that wants a file.
func check(file string) string {
	return fmt.Sprintf("if [ ! -f %[1]s ]; then echo \"%[1]s is not there yet\"; exit 1; fi\necho done\n", file)
}

// aLab is a program that plays the lab: it notes what it is asked for.
const aLab = "#!/bin/sh\necho \"$1\" >> \"${LESSON_TEST_LOG:?}\"\n"

// aMap is a README.md that has parts.
const aMap = "# Stage 3: listen\n\nAbout it.\n\n" +
	"## Why\n\nSee [later](later/README.md).\n\n" +
	"## The parts\n\n- [Log](log/README.md)\n- [Sum](sum/README.md), after [Log](log/README.md)\n\n" +
	"## What comes next\n\nStage 4.\n"

// A fixture is a small repository with one lesson, in which tests break things.
type fixture struct {
	t     *testing.T
	files map[string]string
	log   string // what the lab was asked for
	// copies is where they are made.
	copies string
	// What the checker is told.
	timeout time.Duration
	keep    bool
	jobs    int
	network func() (*isolate.Network, error)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, timeout: testenv.Timeout(), copies: filepath.Join(t.TempDir(), "copies"), log: filepath.Join(t.TempDir(), "lab.log"), files: map[string]string{
		".gitignore":                      "/lab/bin/\n",
		"tools/go.mod":                    "module workshop\n",
		"03-watch/go.mod":                 "module watch\n",
		"03-watch/README.md":              passing,
		"03-watch/lesson/checks/step1.sh": check("one.txt"),
		"03-watch/lesson/checks/step2.sh": check("two.txt"),
		"lab/bin/lab":                     aLab,
	}}
	t.Setenv("LESSON_TEST_LOG", f.log)
	t.Setenv("TMPDIR", t.TempDir()) // so that a test can see that nothing is left there
	return f
}

// inParts makes of the lesson a map with two parts.
func (f *fixture) inParts() {
	f.t.Helper()
	for i, part := range []string{"log", "sum"} {
		f.files["03-watch/"+part+"/README.md"] = strings.Replace(passing, "Stage 3: ", fmt.Sprintf("Stage 3, part %d: ", i+1), 1)
		f.files["03-watch/lesson/checks/"+part+"/step1.sh"] = check("one.txt")
		f.files["03-watch/lesson/checks/"+part+"/step2.sh"] = check("two.txt")
	}
	f.files["03-watch/README.md"] = aMap
	delete(f.files, "03-watch/lesson/checks/step1.sh")
	delete(f.files, "03-watch/lesson/checks/step2.sh")
}

// nest makes of the second part a map with two parts.
func (f *fixture) nest() {
	f.t.Helper()
	for i, part := range []string{"one", "two"} {
		f.files["03-watch/sum/"+part+"/README.md"] = strings.Replace(passing, "Stage 3: ", fmt.Sprintf("Stage 3, part 2.%d: ", i+1), 1)
		f.files["03-watch/lesson/checks/sum/"+part+"/step1.sh"] = check("one.txt")
		f.files["03-watch/lesson/checks/sum/"+part+"/step2.sh"] = check("two.txt")
	}
	f.files["03-watch/sum/README.md"] = strings.NewReplacer("Stage 3: ", "Stage 3, part 2: ", "log/", "one/", "sum/", "two/").Replace(aMap)
	delete(f.files, "03-watch/lesson/checks/sum/step1.sh")
	delete(f.files, "03-watch/lesson/checks/sum/step2.sh")
}

// readme replaces something in the lesson.
func (f *fixture) readme(old, replacement string) {
	f.t.Helper()
	require.Contains(f.t, f.files["03-watch/README.md"], old)
	f.files["03-watch/README.md"] = strings.Replace(f.files["03-watch/README.md"], old, replacement, 1)
}

func (f *fixture) repository() repository.Repository {
	f.t.Helper()
	return repositorytest.New(f.t, f.files)
}

// checker is one that keeps its verdicts beside the copies.
func (f *fixture) checker(r repository.Repository) *Checker {
	return &Checker{Repository: r, Timeout: f.timeout, Keep: f.keep, Folder: f.copies, Verdicts: f.copies + "-verdicts", Jobs: f.jobs, Network: f.network}
}

// check runs workshop lesson check, and returns what it printed.
func (f *fixture) check(numbers ...string) (string, error) {
	f.t.Helper()
	var out bytes.Buffer
	c := f.checker(f.repository())
	c.Out = &out
	err := c.Check(f.t.Context(), numbers...)
	return out.String(), err
}

// asked is what the lab was asked for.
func (f *fixture) asked() string {
	log, err := os.ReadFile(f.log)
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(f.t, err)
	return strings.Join(strings.Fields(string(log)), " ")
}

// left is what is in the folders of copies and of temporary files.
func (f *fixture) left() []string {
	copies, err := filepath.Glob(filepath.Join(f.copies, "*", "*"))
	require.NoError(f.t, err)
	copies = slices.DeleteFunc(copies, func(name string) bool { return filepath.Ext(name) == ".lock" })
	temporary, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	require.NoError(f.t, err)
	return append(copies, temporary...)
}
