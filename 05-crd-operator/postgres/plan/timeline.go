package plan

import "slices"

// TimelineOf is the timeline that the promotion of a term begins. A term has one promotion, so in
// the life of a cluster no number is given twice, and two logs with the same number are one. By
// itself PostgreSQL takes the next number that its own disk does not know, and two members that
// never saw each other take the same one.
func TimelineOf(term int64) int32 { return int32(term) + 1 }

// Position is how far a log goes: on which timeline, and up to where.
type Position struct {
	Timeline int32
	At       LSN
}

// A Fork is where a timeline ended and the next one began.
type Fork = Position

// HasDiverged reports whether a member's log has something that the primary's has not. The
// histories are those of their timelines: where each earlier one ended.
//
//	timeline 1  ----------+-----x      a member that is here has diverged,
//	timeline 3            +--------    because timeline 3 forked off before x
//
// A member that was promoted before it had all of a timeline notes the end of that all the same,
// and then its own. So no later fork may come before the member's end, either.
func HasDiverged(member, primary Position, mine, history []Fork) bool {
	if member.Timeline == primary.Timeline {
		return member.At > primary.At || !slices.Equal(mine, history)
	}
	i := slices.IndexFunc(history, func(f Fork) bool { return f.Timeline == member.Timeline })
	return i < 0 || !slices.Equal(mine, history[:i]) ||
		slices.ContainsFunc(history[i:], func(f Fork) bool { return member.At > f.At })
}
