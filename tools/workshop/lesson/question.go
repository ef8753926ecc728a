package lesson

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// A Question asks the reader to predict what the next block will show:
//
//	**Predict:** What does the program print? <!-- question lost-deletion -->
//	- a) A line for the deletion <!-- if grep -q DELETED -->
//	- b) Nothing <!-- if ! grep -q DELETED -->
//
//	<details><summary>Answer</summary>
//
//	**b)** The reason.
//
//	- a) *What one must believe to answer so.* What is so instead.
//
//	</details>
type Question struct {
	Name        string // among those of its lesson, such as lost-deletion
	Line        int
	Text        string // in Markdown
	Answers     []Answer
	Right       string // the letter of the right answer, as the details name it
	Explanation string
	Block       int // of its step: the one whose output decides
}

// An Answer is one of those to choose from.
type Answer struct {
	Letter string
	Text   string
	// If is a shell command. It reads what the block has printed, and ends with 0 if the answer is
	// right and with 1 if it is not.
	If            string
	Misconception string // of a wrong answer: what one must believe to choose it
	Explanation   string // of a wrong answer
}

var (
	predict  = regexp.MustCompile(`(?m)^\*\*Predict:\*\*`)
	question = regexp.MustCompile(`(?s)^\*\*Predict:\*\* (.+?)\s*<!-- question ([a-z0-9-]+) -->\n+((?:- [a-d]\) .+?\n)+)\n*<details><summary>Answer</summary>\n+\*\*([a-d])\)\*\* (.+?)\n</details>`)
	answer   = regexp.MustCompile(`(?s)^(.+?)\s*<!-- if (.+?) -->\s*$`)
	wrong    = regexp.MustCompile(`(?s)^\*(.+?)\*\s*(.+)$`)
	letter   = regexp.MustCompile(`(?m)^- ([a-d])\) `)
)

// readQuestions finds the questions of a step. One that cannot be read has a line, and no name.
func (s *Step) readQuestions(source string) {
	text := source[s.Start:s.End]
	for _, at := range predict.FindAllStringIndex(text, -1) {
		q := Question{Line: s.Line + strings.Count(text[:at[0]], "\n")}
		if match := question.FindStringSubmatch(text[at[0]:]); match != nil {
			q.Text, q.Name, q.Right = match[1], match[2], match[4]
			q.readAnswers(match[3])
			q.readDetails(match[5])
		}
		for q.Block < len(s.Blocks) && s.Blocks[q.Block].Line < q.Line {
			q.Block++
		}
		s.Questions = append(s.Questions, q)
	}
}

func (q *Question) readAnswers(list string) {
	for letter, item := range lettered(list) {
		a := Answer{Letter: letter}
		if match := answer.FindStringSubmatch(item); match != nil {
			a.Text, a.If = match[1], match[2]
		}
		q.Answers = append(q.Answers, a)
	}
}

func (q *Question) readDetails(text string) {
	begin := len(text)
	if at := letter.FindStringIndex(text); at != nil {
		begin = at[0]
	}
	q.Explanation = strings.TrimSpace(text[:begin])
	for letter, item := range lettered(text[begin:]) {
		for i := range q.Answers {
			if match := wrong.FindStringSubmatch(item); match != nil && q.Answers[i].Letter == letter {
				q.Answers[i].Misconception, q.Answers[i].Explanation = match[1], strings.TrimSpace(match[2])
			}
		}
	}
}

// lettered yields the items of a list that begin with a letter.
func lettered(list string) func(func(letter, item string) bool) {
	return func(yield func(letter, item string) bool) {
		found := letter.FindAllStringSubmatchIndex(list, -1)
		for i, at := range found {
			end := len(list)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			if !yield(list[at[2]:at[3]], strings.TrimSpace(list[at[1]:end])) {
				return
			}
		}
	}
}

// Answer returns the answer with a letter.
func (q Question) Answer(letter string) (Answer, bool) {
	for _, a := range q.Answers {
		if a.Letter == letter {
			return a, true
		}
	}
	return Answer{}, false
}

// validateQuestions wants each question to be whole, and to stand before the block that answers it.
func (l Lesson) validateQuestions(say sayer) {
	names := map[string]bool{}
	for _, step := range l.Steps {
		for _, q := range step.Questions {
			if q.Name == "" {
				say(q.Line, "the question is not of the form; see tools/workshop/README.md")
				continue
			}
			if names[q.Name] {
				say(q.Line, "two questions are called %s", q.Name)
			}
			names[q.Name] = true
			if q.Block == len(step.Blocks) {
				say(q.Line, "the question %s stands before no block that could answer it", q.Name)
			}
			for _, problem := range q.problems() {
				say(q.Line, "the question %s %s", q.Name, problem)
			}
		}
	}
}

func (q Question) problems() (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(q.Answers) < 2 || len(q.Answers) > 4 {
		say("has %d answers; two to four can be read at a glance", len(q.Answers))
	}
	if _, found := q.Answer(q.Right); !found {
		say("has no answer %s), which its details name", q.Right)
	}
	for i, a := range q.Answers {
		switch {
		case a.Letter != string(rune('a'+i)):
			say("has %s) where %c) should be", a.Letter, 'a'+i)
		case a.If == "":
			say("does not say when %s) is right: <!-- if grep -q ... -->", a.Letter)
		case strings.Contains(a.If, "--"):
			say("has -- in the condition of %s), where a comment of HTML may not have it: use short options", a.Letter)
		case a.Letter != q.Right && a.Misconception == "":
			say("does not name the misconception behind %s): - %s) *What one must believe.* ...", a.Letter, a.Letter)
		case a.Letter == q.Right && a.Misconception != "":
			say("has %s) among the wrong answers, and as the right one", a.Letter)
		}
	}
	return problems
}

// judge says how what a block has printed does not decide a question: exactly one answer has to be
// right, and the one that the details name.
func (q Question) judge(ctx context.Context, s *shell, printed string) (problem string, err error) {
	var right []string
	for _, a := range q.Answers {
		done, err := s.feed(ctx, strings.NewReader(printed), "sh", "-c", a.If)
		switch {
		case err != nil:
			return "", fmt.Errorf("trying the answers of %s: %w", q.Name, err)
		case done.expired:
			return fmt.Sprintf("the question %s: the condition of %s) %s", q.Name, a.Letter, done.late(s.timeout, "and was killed")), nil
		case done.code == 0:
			right = append(right, a.Letter)
		case done.code != 1:
			return fmt.Sprintf("the question %s: the condition of %s) ended with exit code %d: %s", q.Name, a.Letter, done.code, done.output), nil
		}
	}
	switch {
	case len(right) == 0:
		return fmt.Sprintf("the question %s: by what the block printed no answer is right, and its details name %s)", q.Name, q.Right), nil
	case len(right) > 1:
		return fmt.Sprintf("the question %s: by what the block printed several answers are right: %s", q.Name, strings.Join(right, ", ")), nil
	case right[0] != q.Right:
		return fmt.Sprintf("the question %s: by what the block printed %s) is right, and its details name %s)", q.Name, right[0], q.Right), nil
	}
	return "", nil
}
