package observe

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"unicode"
)

// program is a program and its leading arguments. The zero value is none.
type program struct {
	line []string // as the user wrote it
	path string
}

// given reports whether there is a program.
func (p *program) given() bool { return len(p.line) > 0 }

// find finds the program in $PATH, once and not again for each object.
func (p *program) find() (err error) {
	if !p.given() {
		return nil
	}
	if p.path, err = exec.LookPath(p.line[0]); err != nil {
		return fmt.Errorf("the command cannot be run: %w; name a program in $PATH, or the path of an executable file", err)
	}
	return nil
}

// quoteLine makes one readable line of a command, whatever is in its arguments.
func quoteLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quoteWord(word)
	}
	return strings.Join(quoted, " ")
}

func quoteWord(word string) string {
	if word == "" || strings.ContainsFunc(word, needsQuotes) {
		return strconv.Quote(word)
	}
	return word
}

func needsQuotes(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' || r == '\\'
}
