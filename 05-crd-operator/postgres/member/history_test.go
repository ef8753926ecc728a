package member

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDivergence(t *testing.T) {
	// Timeline 1 ended at 0/300, and timeline 2, which followed, at 0/500.
	const history = "1\t0/300\tno recovery target specified\n\n2\t0/500\tno recovery target specified\n"
	primary := position{timeline: 3, at: 0x600}
	for name, test := range map[string]struct {
		member   position
		another  bool // whether its timeline forked off elsewhere
		diverged bool
	}{
		"on the primary's timeline, behind it":        {position{3, 0x580}, false, false},
		"on the primary's timeline, as far as it":     {position{3, 0x600}, false, false},
		"on the primary's timeline, ahead of it":      {position{3, 0x601}, false, true},
		"on another timeline of that number":          {position{3, 0x580}, true, true},
		"on the last timeline, up to the fork":        {position{2, 0x500}, false, false},
		"on the last timeline, past the fork":         {position{2, 0x501}, false, true},
		"on the last timeline, further than now":      {position{2, 0x700}, false, true},
		"on the first timeline, up to its fork":       {position{1, 0x300}, false, false},
		"on the first timeline, past its fork":        {position{1, 0x400}, false, true},
		"on a timeline that the primary never was on": {position{4, 0x100}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			forks, err := parseHistory(history)
			require.NoError(t, err)
			mine := forks
			if test.another {
				mine = []fork{{1, 0x300}, {2, 0x480}}
			}
			assert.Equal(t, test.diverged, hasDiverged(test.member, primary, mine, forks))
		})
	}
}

func TestHistoryThatCannotBeRead(t *testing.T) {
	for name, content := range map[string]string{
		"no timeline": "one\t0/300\tx\n",
		"no position": "1\n",
		"a number":    "1\t300\tx\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseHistory(content)
			assert.Error(t, err)
		})
	}
}

func TestPositionIsReadAsItIsPrinted(t *testing.T) {
	at, err := parseLSN("1A/2B3C4D5E")
	require.NoError(t, err)
	assert.Equal(t, "1A/2B3C4D5E", at.String())
}
