package exercise

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestANameThatIsMisspeltIsSuggested(t *testing.T) {
	names := []string{"foreign", "report", "let-go", "report", "4/queue", "5/first"}
	for name, want := range map[string]string{
		"forign":  "did you mean foreign?",
		"Foreign": "did you mean foreign?",
		"rep":     "did you mean report?",
		"reporrt": "did you mean report?",
		"letgo":   "did you mean let-go?",
		"5/frist": "did you mean 5/first?",
		"5/":      "did you mean 5/first?",
		"moon":    "the tries are: foreign, report, let-go, 4/queue, 5/first",
		"r":       "the tries are: foreign, report, let-go, 4/queue, 5/first",
		"":        "the tries are: foreign, report, let-go, 4/queue, 5/first",
	} {
		assert.Equal(t, want, Suggest(name, "the tries", names), "%q", name)
	}
	assert.Equal(t, "did you mean 5/api or 5/first?", Suggest("5/", "", []string{"5/api", "5/first", "4/queue"}))
}
