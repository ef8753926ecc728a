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
	path string
	line []string // as the user wrote it
}

// findProgram looks the program up once, and not again for each object.
func findProgram(line []string) (program, error) {
	if len(line) == 0 {
		return program{}, nil
	}
	path, err := exec.LookPath(line[0])
	if err != nil {
		return program{}, fmt.Errorf("the command cannot be run: %w; name a program in $PATH, or the path of an executable file", err)
	}
	return program{path, line}, nil
}

// given reports whether there is a program.
func (p program) given() bool { return p.path != "" }

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
