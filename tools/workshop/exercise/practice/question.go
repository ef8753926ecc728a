package practice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/lesson"
)

// A Prediction is an answer that the learner gave to a question.
type Prediction struct {
	Answer string    `json:"answer"` // its letter
	Right  bool      `json:"right,omitempty"`
	At     time.Time `json:"at"`
}

// An answerer returns the key that the learner presses, or false if no key will come.
type answerer func(context.Context) (rune, bool)

// newAnswerer returns one that reads from an input in which each line is a key, or from a terminal.
func newAnswerer(ask func(), pressed <-chan rune) answerer {
	return func(ctx context.Context) (rune, bool) {
		ask()
		select {
		case key, open := <-pressed:
			return key, open
		case <-ctx.Done():
			return 0, false
		}
	}
}

// answering lets questions be asked at the terminal, if somebody sits there.
func (p *practice) answering() (end func()) {
	if !InTerminal() {
		return func() {}
	}
	t := openTerminal(os.Stdin)
	t.byKey()
	p.answer = newAnswerer(keys(os.Stdin, t == nil))
	return t.restore
}

// newReview returns the command that asks questions again.
func newReview() *cobra.Command {
	return overview("review", "Ask the questions again that you answered wrongly", func(p practice, ctx context.Context) error {
		defer p.answering()()
		return p.review(ctx)
	})
}

func predictionID(l lesson.Lesson, q lesson.Question) string { return path.Join(lessonName(l), q.Name) }

// predict asks the first of the questions that has no answer yet, and says whether it got one.
func (p practice) predict(ctx context.Context, l lesson.Lesson, questions []lesson.Question) (answered bool, err error) {
	progress, err := p.progress(ctx)
	if err != nil {
		return false, err
	}
	open := func(q lesson.Question) bool { return len(progress.Predictions[predictionID(l, q)]) == 0 }
	i := slices.IndexFunc(questions, open)
	if i < 0 {
		return false, nil
	}
	given, err := p.askFor(ctx, l, questions[i])
	if err != nil || given == "" {
		return false, err
	}
	then := "check the step: then you'll see who was right"
	if slices.ContainsFunc(questions[i+1:], open) {
		then = "answer the next question"
	}
	p.printf("Now run the block that comes after the question, and read on. Then %s (%s).", then, p.key("c", "step"))
	return true, nil
}

// askFor asks a question, and keeps the answer. It returns no answer if none is given.
func (p practice) askFor(ctx context.Context, l lesson.Lesson, q lesson.Question) (given string, err error) {
	if p.answer == nil || q.Name == "" {
		return "", nil
	}
	var letters []string
	p.printf("\nPredict: %s\n", plain(q.Text))
	for _, a := range q.Answers {
		letters = append(letters, a.Letter)
		p.printf("  %s) %s", a.Letter, indented(a.Text))
	}
	p.printf("\nYour answer? (press %s, or - to leave it open)", strings.Join(letters, ", "))
	for !slices.Contains(letters, given) {
		key, open := p.answer(ctx)
		if !open || key == '-' {
			return "", nil
		}
		given = string(key) // Enter is none: fingers press it after a letter, too
		if key != '\n' && !slices.Contains(letters, given) {
			p.printf("Press %s, or - to leave it open.", strings.Join(letters, ", "))
		}
	}
	p.printf("%s)\n", given)
	return given, p.update(func(progress *Progress) {
		if progress.Predictions == nil {
			progress.Predictions = map[string][]Prediction{}
		}
		id := predictionID(l, q)
		progress.Predictions[id] = append(progress.Predictions[id], Prediction{given, given == q.Right, now()})
	})
}

// reveal says of each question that was answered what is right, and why.
func (p practice) reveal(ctx context.Context, l lesson.Lesson, questions []lesson.Question) error {
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	for _, q := range questions {
		given := progress.Predictions[predictionID(l, q)]
		if len(given) == 0 {
			continue
		}
		p.printf("\n%s\n%s", plain(q.Text), verdictOn(q, given[len(given)-1].Answer))
	}
	return nil
}

// verdictOn is what there is to say about an answer.
func verdictOn(q lesson.Question, given string) string {
	right, _ := q.Answer(q.Right)
	text := fmt.Sprintf("  %s) %s\n     %s", q.Right, indented(right.Text), indented(q.Explanation))
	if given == q.Right {
		return "Your prediction was right:\n" + text
	}
	wrong, _ := q.Answer(given)
	return fmt.Sprintf("You predicted %s) %s\n     The mistake behind it: \"%s\" %s\nRight is:\n%s", given, indented(wrong.Text), plain(wrong.Misconception), indented(wrong.Explanation), text)
}

// emphasis is what Markdown puts around a word that stands out.
var emphasis = regexp.MustCompile(`\*{1,2}([^*\s](?:[^*]*[^*\s])?)\*{1,2}`)

// plain is a text for a terminal.
func plain(text string) string { return emphasis.ReplaceAllString(text, "$1") }

// indented is one as it continues an answer.
func indented(text string) string {
	var lines []string
	for line := range strings.Lines(plain(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n     ")
}

// An asked question is one of a lesson that has answers.
type asked struct {
	lesson.Question
	of    lesson.Lesson
	step  lesson.Step
	given []Prediction
}

// asked returns the questions that were answered, in the order of the lessons.
func (p Progress) asked(lessons []lesson.Lesson) []asked {
	var questions []asked
	for _, l := range lessons {
		for _, step := range l.Steps {
			for _, q := range step.Questions {
				if given := p.Predictions[predictionID(l, q)]; len(given) > 0 {
					questions = append(questions, asked{q, l, step, given})
				}
			}
		}
	}
	return questions
}

// wronglyAnswered are the questions whose last answer is wrong, of the steps that are done.
func (p practice) wronglyAnswered(ctx context.Context) (questions []asked, err error) {
	lessons, err := p.lessons()
	if err != nil {
		return nil, err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range progress.asked(lessons) {
		isDone := slices.Contains(progress.Steps[lessonName(q.of)], q.step.Number)
		if isDone && !q.given[len(q.given)-1].Right {
			questions = append(questions, q)
		}
	}
	return questions, nil
}

// review asks again what was answered wrongly.
func (p practice) review(ctx context.Context) error {
	questions, err := p.wronglyAnswered(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(questions) == 0:
		p.printf("There is no question to ask again.")
		return nil
	case p.answer == nil:
		return errors.New("questions are asked in a terminal")
	}
	right := 0
	for i, q := range questions {
		p.printf("\n[%d of %d] %s:%d, step %d: %s", i+1, len(questions), p.path(p.home.Path(q.of.Folder(), "README.md")), q.Line, q.step.Number, q.step.Title)
		given, err := p.askFor(ctx, q.of, q.Question)
		if err != nil {
			return err
		}
		if given != "" {
			p.printf("%s", verdictOn(q.Question, given))
		}
		if given == q.Right {
			right++
		}
	}
	p.printf("\n%d of %d right.", right, len(questions))
	if right < len(questions) {
		p.printf("To be asked the others again: %s", p.command("review"))
	}
	return nil
}

// remindOfReview says that there are questions to ask again.
func (p practice) remindOfReview(ctx context.Context) error {
	questions, err := p.wronglyAnswered(ctx)
	if wrong := len(questions); wrong > 0 {
		p.printf("%s wrong last time. To be asked again: %s", number(wrong, "prediction was", "predictions were"), p.command("review"))
	}
	return err
}

// reportPredictions lists the answers to questions, if there are some: the first of each, what it
// takes to give it if it was wrong, and the last.
func (p practice) reportPredictions(progress Progress, lessons []lesson.Lesson) {
	questions := progress.asked(lessons)
	if len(questions) == 0 {
		return
	}
	var rows strings.Builder
	right := 0
	for _, q := range questions {
		first, last := q.given[0], q.given[len(q.given)-1]
		if first.Right {
			right++
		}
		a, _ := q.Answer(first.Answer)
		fmt.Fprintf(&rows, "| %s, step %d | %s | %s | %s | %s | %d |\n", lessonName(q.of), q.step.Number, q.Name, inWords(first), a.Misconception, inWords(last), len(q.given))
	}
	p.printf("%d of %d predictions were right at first.\n", right, len(questions))
	p.printf("| lesson | question | first answer | misconception | last answer | asked |\n|---|---|---|---|---|---|\n%s", rows.String())
}

func inWords(given Prediction) string {
	if given.Right {
		return given.Answer + ", right"
	}
	return given.Answer + ", wrong"
}
