package lesson

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

const asked = `**Predict:** What does the file
hold afterwards? <!-- question second-write -->

- a) Both ` + "`one`" + ` and two <!-- if grep -q one -->
- b) Two <!-- if grep -q two -->
- c) Nothing <!-- if ! grep -q . -->

<details><summary>Answer</summary>

**b)** The file is another one.

- a) *Redirection appends.* It begins
  again.
- c) *A write comes later.* It does not.

</details>

`

// ask puts the question before the block of step 2, which prints what it writes.
func ask(f *fixture) {
	f.readme("Twice:\n\n```bash exec\necho two > two.txt\n", "Twice:\n\n"+asked+"```bash exec\necho two | tee two.txt\n")
}

func TestAQuestionIsRead(t *testing.T) {
	f := newFixture(t)
	ask(f)
	l, err := Read(t.Context(), f.repository(), watch)
	require.NoError(t, err)
	require.Len(t, l.Steps[1].Questions, 1)
	q := l.Steps[1].Questions[0]
	assert.Equal(t, "03-watch/README.md:22", l.at(q.Line))
	assert.Equal(t, []any{"second-write", "What does the file\nhold afterwards?", "b", "The file is another one.", 0}, []any{q.Name, q.Text, q.Right, q.Explanation, q.Block})
	assert.Equal(t, []Answer{
		{Letter: "a", Text: "Both `one` and two", If: "grep -q one", Misconception: "Redirection appends.", Explanation: "It begins\n  again."},
		{Letter: "b", Text: "Two", If: "grep -q two"},
		{Letter: "c", Text: "Nothing", If: "! grep -q .", Misconception: "A write comes later.", Explanation: "It does not."},
	}, q.Answers)
}

func TestAQuestionIsOfTheForm(t *testing.T) {
	for name, test := range map[string]struct{ old, replacement, want string }{
		"no name":                {" <!-- question second-write -->", "", "03-watch/README.md:22: the question is not of the form"},
		"no details":             {"</details>", "", "the question is not of the form"},
		"no condition":           {" <!-- if grep -q one -->", "", "the question second-write does not say when a) is right"},
		"a condition with --":    {"grep -q one", "grep --quiet one", "the question second-write has -- in the condition of a)"},
		"one answer":             {"- b) Two <!-- if grep -q two -->\n- c) Nothing <!-- if ! grep -q . -->\n", "", "the question second-write has 1 answers"},
		"a letter left out":      {"- c) Nothing", "- d) Nothing", "the question second-write has d) where c) should be"},
		"another right answer":   {"**b)**", "**d)**", "the question second-write has no answer d), which its details name"},
		"no misconception":       {"*A write comes later.* It does not.", "No.", "the question second-write does not name the misconception behind c)"},
		"the right one as wrong": {"- c) *A write", "- b) *A write", "the question second-write has b) among the wrong answers, and as the right one"},
		"no block":               {"```bash exec\necho two | tee two.txt\n```\n\n```bash exec lab\n", "```bash exec lab\n", "stands before no block"},
		"twice":                  {"</details>\n", "</details>\n\n" + asked, "two questions are called second-write"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ask(f)
			if name == "no block" {
				f.readme("</details>\n\n```bash exec\necho two | tee two.txt\n```\n\n```bash exec lab\nfalse; echo \"exit code $?\"\n```\n", "</details>\n")
				f.readme("Twice:\n", "```bash exec\necho two | tee two.txt\n```\n")
			} else {
				f.readme(test.old, test.replacement)
			}
			_, err := Read(t.Context(), f.repository(), watch)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestWhatABlockPrintsDecidesItsQuestion(t *testing.T) {
	for name, test := range map[string]struct{ old, replacement, want string }{
		"as the details say":        {"", "", ""},
		"otherwise":                 {"echo two | tee", "echo one | tee", "step 2: the question second-write: by what the block printed a) is right, and its details name b)"},
		"several answers are right": {"echo two | tee", "echo one two | tee", "by what the block printed several answers are right: a, b"},
		"no answer is right":        {"echo two | tee", "echo three | tee", "by what the block printed no answer is right, and its details name b)"},
		"a broken condition":        {"if grep -q one", "if grep -q '['", "the condition of a) ended with exit code 2"},
		"an endless condition":      {"if grep -q one", "if sleep 1000", "the condition of a) did not end within 1s, and was killed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ask(f)
			f.readme(test.old, test.replacement)
			if name == "an endless condition" {
				f.timeout = time.Second
			}
			out, err := f.check("3")
			if test.want == "" {
				require.NoError(t, err, out)
				return
			}
			require.Error(t, err)
			assert.Contains(t, out, test.want)
		})
	}
}

// The outputs in the lessons are pasted from real runs, so they decide the questions, too. One question in
// four is given a wrong answer, to see that this finds it.
func TestThePastedOutputsDecideTheQuestionsOfTheLessons(t *testing.T) {
	r, err := repository.Find(t.Context(), ".")
	require.NoError(t, err)
	stages, err := r.Stages()
	require.NoError(t, err)
	in, n := &shell{dir: t.TempDir(), env: os.Environ(), timeout: DefaultTimeout}, 0
	for _, stage := range stages {
		lessons, err := Of(r, stage)
		require.NoError(t, err)
		for _, l := range lessons {
			for _, step := range l.Steps {
				for _, q := range step.Questions {
					printed := l.printed(step.Blocks[q.Block])
					problem, err := q.judge(t.Context(), in, printed)
					require.NoError(t, err)
					assert.Empty(t, problem, l.at(q.Line))
					if n++; n%4 != 1 {
						continue
					}
					right := q.Right
					q.Right = q.Answers[(int(right[0]-'a')+1)%len(q.Answers)].Letter
					problem, err = q.judge(t.Context(), in, printed)
					require.NoError(t, err)
					assert.Contains(t, problem, right+") is right, and its details name "+q.Right+")", l.at(q.Line))
				}
			}
		}
	}
}

// printed is the output that is pasted after a block.
func (l Lesson) printed(block Block) string {
	for i, fence := range l.Fences {
		if fence.Line == block.Line && i+1 < len(l.Fences) && l.Fences[i+1].Info == "text" {
			return l.Fences[i+1].Code
		}
	}
	return ""
}

func TestALessonAsksForItsTriesInOrder(t *testing.T) {
	f := newFixture(t)
	f.files["03-watch/sum_test.go"] = "package sum\n\nfunc TestA(t *testing.T) {}\n"
	f.files["03-watch/sum.go"] = "package sum\n"
	f.files["03-watch/lesson/exercises/tries/one.patch"], f.files["03-watch/lesson/exercises/tries/two.patch"] = "x\n", "x\n"
	f.files["03-watch/lesson/exercises/tries/judge.yaml"] = strings.ReplaceAll(`kind: try
write: [sum.go]
groups:
- {name: one, minutes: 1, hint: a, tests: [T]}
- {name: two, minutes: 1, hint: a, tests: [T]}
`, "[T]", "[{package: ., test: TestA, output: a, because: a}]")
	_, err := Read(t.Context(), f.repository(), watch)
	require.ErrorContains(t, err, "03-watch/README.md:1: the lesson does not ask for one, two, which 03-watch/lesson/exercises/tries has; write: **Now you:** `one`. ...")

	f.readme("Twice:\n", "**Now you:** `two`. Write\ntwo.\n\n**Now you:** `one`. Write one.\n")
	_, err = Read(t.Context(), f.repository(), watch)
	require.ErrorContains(t, err, "the lesson asks for its tries in another order than 03-watch/lesson/exercises/tries, where one builds on the other: one, two")

	f.readme("`two`", "`three`")
	_, err = Read(t.Context(), f.repository(), watch)
	require.ErrorContains(t, err, "03-watch/README.md:20: no exercise of kind: try has three for this lesson")

	f.readme("**Now you:** `three`. Write\ntwo.\n\n**Now you:** `one`. Write one.\n", "**Now you:** `one`. Write\none.\n\n**Now you:** `two`. Write two.\n")
	l, err := Read(t.Context(), f.repository(), watch)
	require.NoError(t, err)
	assert.Equal(t, []Try{{"one", "Write\none.", 20}, {"two", "Write two.", 23}}, l.Steps[1].Tries)
}
