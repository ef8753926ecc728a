package gotest

import (
	"regexp"
	"slices"
	"strings"
)

// Excerpt returns the lines of a failing test's output that tell most, at most limit
// of them: the panic, or else where the test failed and what it says there, or else
// the last lines. Frames of a panic are shown if their path holds dir.
func Excerpt(output, dir string, limit int) []string {
	lines := telling(output)
	if panicIn(output) != "" {
		lines = panicLines(output, dir)
	} else if failures := failureLines(lines); len(failures) > 0 {
		lines = failures
	} else if len(lines) > limit {
		return lines[len(lines)-limit:]
	}
	if len(lines) > limit {
		lines = append(lines[:limit:limit], "...")
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > longest {
			// Its end often says what it was compared with.
			lines[i] = string(runes[:longest-150]) + " ... " + string(runes[len(runes)-150:])
		}
	}
	return lines
}

// longest is how many characters of a line are shown.
const longest = 400

var (
	// noise is what go test says to itself.
	noise = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):)`)
	// failedAt is a line of t.Error, which begins with its place in the test.
	failedAt = regexp.MustCompile(`^\s+(\w+_test\.go:\d+): ?(.*)$`)
	// label is one of those that testify gives the parts of its message.
	label = regexp.MustCompile(`^\s*\t(Error Trace|Error|Test|Messages):\s*(.*)$`)
)

// telling drops what says nothing new, and what testify says of the place and the
// test, which go test says, too. Of two values and their difference it keeps what is
// shorter to read.
func telling(output string) []string {
	var lines []string
	dropping, begin := false, 0 // of the part that the line is in
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \t\r\n")
		if noise.MatchString(line) || line == "" {
			continue
		}
		switch part := label.FindStringSubmatch(line); {
		case failedAt.MatchString(line):
			dropping = false
		case part != nil:
			dropping, begin = part[1] == "Error Trace" || part[1] == "Test", len(lines)
			line = "\t" + part[2]
		case strings.TrimSpace(line) == "Diff:" && !dropping:
			if dropping = len(strings.Join(lines[begin:], "")) < longest; !dropping {
				lines = lines[:min(begin+1, len(lines))]
				continue
			}
		case dropping && strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
			// the next line of what is being dropped
		default:
			dropping = false
		}
		if !dropping {
			lines = append(lines, line)
		}
	}
	return lines
}

// failureLines keeps the messages of t.Error with their places, and drops what the
// program logged. A message goes on as long as its lines are indented. One that two
// subtests share is kept once.
func failureLines(lines []string) []string {
	var failures, message, seen []string
	end := func() {
		if whole := strings.Join(message, "\n"); whole != "" && !slices.Contains(seen, whole) {
			failures, seen = append(failures, message...), append(seen, whole)
		}
		message = nil
	}
	for _, line := range lines {
		if place := failedAt.FindStringSubmatch(line); place != nil {
			end()
			message = []string{strings.TrimSpace(place[1] + ": " + place[2])}
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			end()
		}
		if text := strings.TrimSpace(line); len(message) > 0 && text != "" {
			message = append(message, "  "+text)
		}
	}
	end()
	return failures
}

// panicLines are the panic's words and the places in dir that it came through.
func panicLines(output, dir string) []string {
	lines := []string{panicIn(output)}
	_, stack, _ := strings.Cut(output, lines[0])
	for line := range strings.Lines(stack) {
		place, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
		if below, ok := strings.CutPrefix(place, dir+"/"); ok {
			lines = append(lines, "  at "+below)
		}
	}
	return lines
}
