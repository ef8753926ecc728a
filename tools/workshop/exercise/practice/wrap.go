package practice

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// widthOf returns what tells the width of a terminal, which changes with its window, or nil.
func widthOf(out io.Writer) func() int {
	file, ok := out.(*os.File)
	if !ok || !isTerminal(file) {
		return nil
	}
	return func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}

// wrapped breaks lines between words, so that none is longer than width unless a word is. What
// follows a break is indented as its line is. With a width of 0 it breaks none.
func wrapped(text string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for width > 0 && utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width {
			end := breakAt(line, len(indent), width)
			if end < 0 {
				break
			}
			out.WriteString(strings.TrimRight(line[:end], " ") + "\n")
			line = indent + strings.TrimLeft(line[end:], " ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// paragraph is a text in one line if its lines break by themselves.
func (p practice) paragraph(text string) string {
	if p.width == nil {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// breakAt returns the last space after from that is within width, or else the first one after it, or -1.
func breakAt(line string, from, width int) int {
	at, characters := -1, 0
	for i, r := range line {
		if r == ' ' && i > from && i+1 < len(strings.TrimRight(line, " \n")) {
			if at >= 0 && characters > width {
				break
			}
			at = i
		}
		characters++
	}
	return at
}
