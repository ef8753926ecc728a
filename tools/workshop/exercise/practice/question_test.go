package practice

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

const question = `## Step 1: Make a

**Predict:** What will be there? <!-- question first -->

- a) A file <!-- if true -->
- b) A folder <!-- if false -->

<details><summary>Answer</summary>

**a)** It is empty.

- b) *Everything is a folder.* Some things are files.

</details>

` + "```bash exec\ntouch a\n```\n"

// asking opens a practice in which the learner presses these keys.
func (l learner) asking(keys string) (practice, *bytes.Buffer) {
	l.Helper()
	var out bytes.Buffer
	p := l.open(&out)
	p.answer = func(context.Context) (rune, bool) {
		if keys == "" {
			return 0, false
		}
		key := rune(keys[0])
		keys = keys[1:]
		return key, true
	}
	return p, &out
}

func TestAQuestionIsAskedBeforeTheStepIsChecked(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	page := l.home.Path("01-sums", "README.md")
	repositorytest.Write(t, page, "# Stage 1: sums\n\n## Why\n\n"+question+"\n## Step 2: Make b\n")

	var unasked bytes.Buffer
	require.ErrorIs(t, l.open(&unasked).step(t.Context(), "1", "1"), ErrNotYet)
	assert.NotContains(t, unasked.String(), "Predict", "there is no terminal")

	p, out := l.asking("\n-")
	require.ErrorIs(t, p.step(t.Context(), "1", "1"), ErrNotYet)
	assert.Equal(t, "\nPredict: What will be there?\n\n  a) A file\n  b) A folder\n\nYour answer? (press a, b, or - to leave it open)\n01-sums/README.md, step 1 of 2: Make a\n  not yet: there is no a\n", out.String())
	assert.Empty(t, l.progress().Predictions)

	p, out = l.asking("xb")
	require.ErrorIs(t, p.step(t.Context(), "1", "1"), ErrNotYet)
	assert.Contains(t, out.String(), "Press a, b, or - to leave it open.\nb)\n\nNow run the block that comes after the question, and read on. Then check the step: then you'll see who was right (bin/workshop step).\n")
	assert.NotContains(t, out.String(), "not yet", "the block has not been run")
	assert.NotContains(t, out.String(), "It is empty", "the block shows it")
	p, out = l.asking("a")
	require.ErrorIs(t, p.step(t.Context(), "1", "1"), ErrNotYet)
	assert.NotContains(t, out.String(), "Predict", "a question is asked once")
	p, out = l.asking("a")
	require.NoError(t, p.review(t.Context()))
	assert.Equal(t, "There is no question to ask again.\n", out.String(), "the block has not been run")

	require.NoError(t, os.WriteFile(l.home.Path("01-sums", "a"), nil, 0o644))
	p, out = l.asking("")
	require.NoError(t, p.step(t.Context(), "1", "1"))
	assert.Contains(t, out.String(), "  done\n\nWhat will be there?\nYou predicted b) A folder\n     The mistake behind it: \"Everything is a folder.\" Some things are files.\nRight is:\n  a) A file\n     It is empty.\n")

	ctx, cancel := context.WithCancel(t.Context())
	s := l.learn(ctx)
	s.next("1 prediction was wrong last time. To be asked again: bin/workshop review\n")
	cancel()
	s.end()
	require.EqualError(t, l.open(&unasked).review(t.Context()), "questions are asked in a terminal")
	p, out = l.asking("-")
	require.NoError(t, p.review(t.Context()))
	assert.Contains(t, out.String(), "\n0 of 1 right.\nTo be asked the others again: bin/workshop review\n")
	p, out = l.asking("a")
	require.NoError(t, p.review(t.Context()))
	assert.Contains(t, out.String(), "\n[1 of 1] 01-sums/README.md:7, step 1: Make a\n\nPredict: What will be there?\n")
	assert.Regexp(t, `(?s)Your prediction was right:\n  a\) A file\n.*\n1 of 1 right\.\n$`, out.String())
	p, out = l.asking("a")
	require.NoError(t, p.review(t.Context()))
	assert.Equal(t, "There is no question to ask again.\n", out.String())

	p, out = l.asking("")
	require.NoError(t, p.report(t.Context()))
	assert.Contains(t, out.String(), "0 of 1 predictions were right at first.\n\n| lesson | question | first answer | misconception | last answer | asked |\n|---|---|---|---|---|---|\n| 1, step 1 | first | b, wrong | Everything is a folder. | a, right | 2 |\n")
}

func TestQuestionsAreAskedOneAtATime(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	second := strings.NewReplacer("## Step 1: Make a", "", "What will be there?", "And then?", "question first", "question second").Replace(question)
	repositorytest.Write(t, l.home.Path("01-sums", "README.md"), "# Stage 1: sums\n\n## Why\n\n"+question+second+"\n## Step 2: Make b\n")
	p, out := l.asking("aa")
	require.ErrorIs(t, p.step(t.Context(), "1", "1"), ErrNotYet)
	assert.Contains(t, out.String(), "Predict: What will be there?\n")
	assert.Contains(t, out.String(), "Then answer the next question (bin/workshop step).\n")
	assert.NotContains(t, out.String(), "And then?")
	require.ErrorIs(t, p.step(t.Context(), "1", "1"), ErrNotYet)
	assert.Contains(t, out.String(), "Predict: And then?\n")
	assert.Contains(t, out.String(), "Then check the step")
	assert.NotContains(t, out.String(), "not yet")
	require.ErrorIs(t, p.step(t.Context(), "1", "1"), ErrNotYet)
	assert.Contains(t, out.String(), "not yet: there is no a")
}

func TestTextsForATerminalHaveNoAsterisks(t *testing.T) {
	assert.Equal(t, "an old list, 2 * 3, and more", plain("an *old* **list**, 2 * 3, and *more*"))
}
