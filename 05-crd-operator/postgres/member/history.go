package member

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// parseHistory reads a history file of PostgreSQL. Each line has a timeline, the position at
// which it ended, and why. That of a timeline that was never begun has only a comment.
func parseHistory(content string) ([]plan.Fork, error) {
	var history []plan.Fork
	for lines := bufio.NewScanner(strings.NewReader(content)); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var f plan.Fork
		if _, err := fmt.Sscan(fields[0], &f.Timeline); err != nil || len(fields) < 2 {
			return nil, fmt.Errorf("reading the history of a timeline: unexpected line %q", lines.Text())
		}
		at, err := parseLSN(fields[1])
		if err != nil {
			return nil, fmt.Errorf("reading the history of a timeline: %w", err)
		}
		f.At = at
		history = append(history, f)
	}
	return history, nil
}

// parseEpoch reads a time that PostgreSQL prints in seconds, or zero.
func parseEpoch(s string) (time.Time, error) {
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || seconds == 0 {
		return time.Time{}, err
	}
	return time.UnixMicro(int64(seconds * 1e6)).UTC(), nil
}

// parseLSN reads a position as PostgreSQL prints it.
func parseLSN(s string) (plan.LSN, error) {
	var high, low uint32
	if _, err := fmt.Sscanf(s, "%X/%X", &high, &low); err != nil {
		return 0, fmt.Errorf("%q is no position in a log: %w", s, err)
	}
	return plan.LSN(high)<<32 | plan.LSN(low), nil
}
