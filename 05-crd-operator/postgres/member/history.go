package member

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// position is how far a log goes: on which timeline, and up to where.
type position struct {
	timeline int32
	at       plan.LSN
}

// A fork is where a timeline ended and the next one began.
type fork = position

// hasDiverged reports whether a member's log has something that the primary's has not. The
// histories are those of their timelines: where each earlier one ended.
//
//	timeline 1  ----------+-----x      a member that is here has diverged,
//	timeline 2            +--------    because timeline 2 forked off before x
//
// Two members that never saw each other may both have begun a timeline 2, at different places.
func hasDiverged(member, primary position, mine, history []fork) bool {
	if member.timeline == primary.timeline {
		return member.at > primary.at || !slices.Equal(mine, history)
	}
	i := slices.IndexFunc(history, func(f fork) bool { return f.timeline == member.timeline })
	return i < 0 || member.at > history[i].at
}

// parseHistory reads a history file of PostgreSQL. Each line has a timeline, the position at
// which it ended, and why.
func parseHistory(content string) ([]fork, error) {
	var history []fork
	for lines := bufio.NewScanner(strings.NewReader(content)); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var f fork
		if _, err := fmt.Sscan(fields[0], &f.timeline); err != nil || len(fields) < 2 {
			return nil, fmt.Errorf("reading the history of a timeline: unexpected line %q", lines.Text())
		}
		at, err := parseLSN(fields[1])
		if err != nil {
			return nil, fmt.Errorf("reading the history of a timeline: %w", err)
		}
		f.at = at
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
