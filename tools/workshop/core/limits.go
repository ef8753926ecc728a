package core

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/markdown"
)

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	breaks  = regexp.MustCompile(`^Break\b`)
	word    = regexp.MustCompile(`[\pL\pN]`)
)

// limits says which limits a core lesson is over.
func limits(l lesson.Lesson, builds bool, terms int) (over []string) {
	words, tries := 0, 0
	for _, section := range l.Sections {
		words += Words(section.Text)
	}
	for _, step := range l.Steps {
		tries += len(step.Tries)
	}
	words += Words(l.Introduction)
	if words > mostWords {
		over = append(over, fmt.Sprintf("has %d words of prose, %d at most are allowed", words, mostWords))
	}
	if steps := len(l.Steps); steps > mostSteps {
		over = append(over, fmt.Sprintf("has %d steps, %d at most are allowed", steps, mostSteps))
	}
	if terms > mostTerms {
		over = append(over, fmt.Sprintf("brings %d new terms (what the glossary links to it), %d at most are allowed", terms, mostTerms))
	}
	mostTries := maxTries
	if builds {
		mostTries = mostBuilt
	}
	if tries < minTries || tries > mostTries {
		over = append(over, fmt.Sprintf("has %d tries (**Now you:**), it has to have %d to %d", tries, minTries, mostTries))
	}
	if steps := unasked(l); len(steps) > 0 {
		over = append(over, fmt.Sprintf("asks for no prediction (**Predict:**) before it breaks something: step %s", strings.Join(steps, ", ")))
	}
	return over
}

// unasked returns the steps that break something, as their titles say, without a question.
func unasked(l lesson.Lesson) (steps []string) {
	for _, step := range l.Steps {
		if breaks.MatchString(step.Title) && len(step.Questions) == 0 {
			steps = append(steps, strconv.Itoa(step.Number))
		}
	}
	return steps
}

// Words counts the words of a text that are prose: not those in fences and comments.
func Words(text string) int {
	document := markdown.Parse(text)
	var edits []markdown.Edit
	for _, fence := range document.Fences {
		edits = append(edits, markdown.Edit{Range: fence.Range})
	}
	count := 0
	for field := range strings.FieldsSeq(comment.ReplaceAllString(document.Apply(edits...), "")) {
		if word.MatchString(field) {
			count++
		}
	}
	return count
}
