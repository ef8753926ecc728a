package certificate

import (
	"bytes"
	"crypto/tls"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	names = []string{"db", "db.harbour.svc"}
)

const day = 24 * time.Hour

// next is what an operator does when a CA is due. It returns the new bundle.
func next(t *testing.T, bundle []byte, now time.Time) ([]byte, Issued) {
	t.Helper()
	b := Read(bundle, "uid")
	require.True(t, b.Due(now))
	issued, err := b.Issue(names, now)
	require.NoError(t, err)
	return append(b.PEM(), issued.CA...), issued
}

func TestWhenTheNextIsDue(t *testing.T) {
	bundle, _ := next(t, nil, begin)
	for name, tc := range map[string]struct {
		bundle []byte
		owner  string
		after  time.Duration
		want   bool
	}{
		"there is none":                    {nil, "uid", 0, true},
		"what is there is none":            {[]byte("garbage"), "uid", 0, true},
		"it is new":                        {bundle, "uid", 0, false},
		"it is eight months old":           {bundle, "uid", 243 * day, false},
		"it has four months left":          {bundle, "uid", 244 * day, true},
		"it is another cluster's":          {bundle, "other", 0, true},
		"it has expired":                   {bundle, "uid", 366 * day, true},
		"a clock is an hour behind":        {bundle, "uid", -time.Hour, false},
		"a clock is two years behind":      {bundle, "uid", -2 * Lifetime, true},
		"there is garbage before it":       {append([]byte("garbage\n"), bundle...), "uid", 0, false},
		"somebody has added one of theirs": {append(slices.Clone(bundle), bundle...), "uid", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := begin.Add(tc.after)
			assert.Equal(t, tc.want, Read(tc.bundle, tc.owner).Due(now))
		})
	}
}

// On every day of five years, and every five minutes after a change, a client that has an old bundle or a new one accepts what a
// member serves that has old files or new ones.
func TestARenewalCutsNobodyOff(t *testing.T) {
	const late = 30 * time.Minute // how long a new file may be on its way
	type files struct {
		since  time.Time
		bundle []byte
		slots  [2][]byte
	}
	bundle, first := next(t, nil, begin)
	history := []files{{begin.Add(-late), bundle, [2][]byte{first.Certificate}}}
	for now := begin; now.Before(begin.Add(5 * Lifetime)); {
		last := history[len(history)-1]
		if b := Read(last.bundle, "uid"); b.Due(now) {
			slot := b.Slot(now) - 1
			f := files{since: now, slots: last.slots}
			var issued Issued
			f.bundle, issued = next(t, last.bundle, now)
			f.slots[slot] = issued.Certificate
			history = append(history, f)
		} else if !bytes.Equal(b.PEM(), last.bundle) {
			history = append(history, files{now, b.PEM(), last.slots})
		}
		known := history[len(history)-1:]
		for i := len(history) - 1; i > 0 && now.Sub(history[i].since) < late; i-- {
			known = history[i-1:]
		}
		for _, member := range known {
			serves := Newest(member.bundle, member.slots[:], "db", now)
			require.GreaterOrEqual(t, serves, 0, "%s", now)
			for _, client := range known {
				require.Zero(t, Newest(client.bundle, [][]byte{member.slots[serves]}, "db.harbour.svc", now), "%s", now)
			}
		}
		if now.Sub(history[len(history)-1].since) < 3*time.Hour {
			now = now.Add(5 * time.Minute)
		} else {
			now = now.Add(day)
		}
	}
	assert.Greater(t, len(history), 10)
}

// Operators whose clocks are wrong take turns with one whose clock is right. On every day, a client accepts what a member serves.
func TestAWrongClockCutsNobodyOff(t *testing.T) {
	const year = 365 * day
	for name, offset := range map[string]func(days int) time.Duration{
		"once two years ahead":              func(d int) time.Duration { return map[bool]time.Duration{true: 2 * year}[d == 100] },
		"once two years behind":             func(d int) time.Duration { return map[bool]time.Duration{true: -2 * year}[d == 100] },
		"behind, and later ahead":           func(d int) time.Duration { return map[int]time.Duration{100: -2 * year, 101: 2 * year}[d] },
		"nine months ahead for two months":  func(d int) time.Duration { return map[bool]time.Duration{true: 274 * day}[d >= 100 && d < 160] },
		"every other day two years ahead":   func(d int) time.Duration { return time.Duration(d%2) * 2 * year },
		"every other day two years behind":  func(d int) time.Duration { return time.Duration(d%2) * -2 * year },
		"an hour ahead, and an hour behind": func(d int) time.Duration { return time.Duration(d%3-1) * time.Hour },
		"with jumps of days":                func(d int) time.Duration { return time.Duration(d*7919%61-30) * day },
	} {
		t.Run(name, func(t *testing.T) {
			bundle, first := next(t, nil, begin)
			slots, issued := [][]byte{first.Certificate, nil}, 1
			for d := 1; d < 3*365; d++ {
				now := begin.Add(time.Duration(d) * day)
				clock := now.Add(offset(d))
				if b := Read(bundle, "uid"); b.Due(clock) {
					slot := b.Slot(clock) - 1
					var made Issued
					bundle, made = next(t, bundle, clock)
					slots[slot] = made.Certificate
					issued++
				}
				require.GreaterOrEqual(t, Newest(bundle, slots, "db", now), 0, "day %d", d)
			}
			assert.LessOrEqual(t, len(Read(bundle, "uid").cas), 2)
			assert.Less(t, issued, 20, "and they do not replace each other's all the time")
		})
	}
}

// What members have is signed by what is in the bundle, so a number is never given twice.
func TestNumbersNeverGoBack(t *testing.T) {
	bundle, _ := next(t, nil, begin)
	for i := range 4 {
		now := begin.Add(time.Duration(i+1) * 2 * Lifetime)
		before := Read(bundle, "uid")
		bundle, _ = next(t, bundle, now)
		assert.Greater(t, number(parse(bundle)[len(parse(bundle))-1]), number(before.cas[len(before.cas)-1]))
	}
}

func TestOfTwoTheNewestIsServedThatAClientAccepts(t *testing.T) {
	one, first := next(t, nil, begin)
	renewed := begin.Add(244 * day)
	both, second := next(t, one, renewed)
	foreign, other := next(t, nil, begin)
	slots := [][]byte{first.Certificate, second.Certificate}
	for name, tc := range map[string]struct {
		bundle []byte
		slots  [][]byte
		name   string
		now    time.Time
		want   int
	}{
		"the second is not valid yet":          {both, slots, "db", renewed, 0},
		"the second is valid":                  {both, slots, "db", renewed.Add(announced), 1},
		"the second's CA was never announced":  {one, slots, "db", renewed.Add(announced), 0},
		"the first has expired":                {both, slots, "db", begin.Add(364*day + 25*time.Hour), 1},
		"only the first is there":              {both, [][]byte{first.Certificate, nil}, "db", renewed.Add(announced), 0},
		"it is of another CA":                  {foreign, slots, "db", begin, -1},
		"it is of the CA of another":           {one, [][]byte{other.Certificate}, "db", begin, -1},
		"it is for another name":               {one, slots, "elsewhere", begin, -1},
		"there is none":                        {one, nil, "db", begin, -1},
		"all have expired":                     {both, slots, "db", begin.Add(3 * Lifetime), -1},
		"a CA signs no more than one":          {second.CA, [][]byte{first.Certificate}, "db", renewed.Add(announced), -1},
		"a file is cut off":                    {one, [][]byte{first.Certificate[:100]}, "db", begin, -1},
		"it is valid a little before its time": {one, slots, "db", begin.Add(-59 * time.Minute), 0},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Newest(tc.bundle, tc.slots, tc.name, tc.now))
		})
	}
}

// One that is made late has no time to be announced.
func TestWithoutAnotherItIsValidAtOnce(t *testing.T) {
	one, _ := next(t, nil, begin)
	end := begin.Add(Lifetime - announced)
	for name, now := range map[string]time.Time{
		"the last one has expired":         end.Add(day),
		"the last one expires in a moment": end.Add(-time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			bundle, issued := next(t, one, now)
			assert.Zero(t, Newest(bundle, [][]byte{issued.Certificate}, "db", now))
		})
	}
}

func TestThePairIsOne(t *testing.T) {
	_, issued := next(t, nil, begin)
	_, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	require.NoError(t, err)
	_, err = ClientConfig(nil, "db")
	assert.ErrorIs(t, err, errEmpty)
}
