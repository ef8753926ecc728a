package track

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

const example = `
minutes:
  START.md: [10]
  01-list: [4, 1, 2, 3, 6]
  02-watch: [5, 7, 1]
needs:
  02-watch: [01-list]
tracks:
- name: hour
  title: an hour
  items:
  - START.md
  - 01-list#1,3 with tries
  - exercise:01-list/first may
  - evening
  - 01-list#2
  - break 15
- name: deep
  title: everything
  items: [START.md, 01-list with tries, 'exercise:01-list/first', 02-watch, 'try:02-watch/cursor']
`

// facts are those that the example fits.
func facts() Facts {
	return Facts{
		Stages: []string{"01-list", "02-watch"},
		Pages: map[string]Page{
			"START.md": {Label: "this page"},
			"01-list":  {Label: "1: list", Steps: 3},
			"02-watch": {Label: "2: watch", Steps: 1},
		},
		Exercises: map[string]Work{"01-list/first": {Minutes: 30, Pages: []string{"01-list"}}},
		Tries: map[string]Work{
			"01-list/word":    {Minutes: 2, Pages: []string{"01-list"}, Step: 3},
			"02-watch/cursor": {Minutes: 3, Pages: []string{"02-watch"}, Step: 1},
		},
	}
}

func parse(t *testing.T, text string) Curriculum {
	t.Helper()
	c, err := Parse([]byte(text))
	require.NoError(t, err)
	return c
}

func label(_, label string) string { return label }

func TestAnItemSaysWhatToDo(t *testing.T) {
	for text, want := range map[string]Item{
		"START.md":                      {Name: "START.md"},
		"03-watch#1-3,7 with tries may": {Name: "03-watch", Steps: []int{1, 2, 3, 7}, Tries: true, May: true},
		"exercise:03-watch/first-watch": {Kind: Exercise, Name: "03-watch/first-watch"},
		"try:03-watch/cursor may":       {Kind: Try, Name: "03-watch/cursor", May: true},
		"lunch 60":                      {Kind: Lunch, Minutes: 60},
		"evening":                       {Kind: Evening},
	} {
		want.Text = text
		assert.Equal(t, want, parse(t, "tracks: [{items: ['"+text+"']}]").Tracks[0].Items[0])
	}
	for text, want := range map[string]string{
		"break":          "is no item",
		"3-watch":        "is no item",
		"03-watch#3-1":   "the steps of",
		"03-watch#2,2":   "the steps of",
		"03-watch#1-999": "the steps of",
		"03-watch maybe": "is no item",
		"see:03-watch":   "is no item",
	} {
		_, err := Parse([]byte("tracks: [{items: ['" + text + "']}]"))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestWhatIsMadeOfATrack(t *testing.T) {
	c := parse(t, example)
	assert.Equal(t, `| | an hour |
|---|---|
| this page | 10 |
| 1: list | 1, 3, 2: 12 |
| 2: watch | |
| together | 22 min |
`, c.Table(facts(), label))
	assert.Equal(t, `| time | what | minutes |
|---|---|---|
| 09:00 | this page | 10 |
| 09:10 | 1: list: steps 1, 3 | 10 |
| may | exercise `+"`first`"+` | 30 |
| 09:20 | end of the day | |
| 09:00 | 1: list: step 2 | 2 |
| 09:02 | break | 15 |
| 09:17 | the end | |
`, c.Agenda(c.Tracks[0], facts(), label), "Why is read once, the end with all steps only, and the try is done in step 3")
	assert.Equal(t, 2, c.Stops(c.Tracks[0], facts())[1].Trying)
	assert.Equal(t, 10+16+2+30+13+3, c.Together(c.Tracks[1], facts()))
	assert.Equal(t, "2 h 05 min", Hours(125))
}

func TestWhatABranchLacksIsLeftOut(t *testing.T) {
	c, branch := parse(t, example), facts()
	branch.Stages = []string{"01-list"}
	delete(branch.Pages, "02-watch")
	delete(branch.Tries, "02-watch/cursor")
	c.Tracks[0].Items = c.Tracks[0].Items[:2]
	require.NoError(t, c.Check(branch))
	assert.NotContains(t, c.Table(branch, label), "watch")
}

func TestATrackOfWhichABranchHasNothingIsNotOffered(t *testing.T) {
	c := parse(t, example+"- name: second\n  title: a second course\n  items: [02-watch, break 15]\n")
	names := func(f Facts) (names []string) {
		for _, t := range c.Offered(f) {
			names = append(names, t.Name)
		}
		return names
	}
	assert.Equal(t, []string{"hour", "deep", "second"}, names(facts()))
	branch := facts()
	branch.Stages = []string{"01-list"}
	delete(branch.Pages, "02-watch")
	assert.Equal(t, []string{"hour", "deep"}, names(branch))
	assert.NotContains(t, c.Table(branch, label), "second course")
}

func TestTheOrderIsThatOfDeep(t *testing.T) {
	c := parse(t, example)
	assert.Equal(t, 3, c.Order(Exercise)("01-list/first"))
	assert.Less(t, c.Order(Read)("01-list"), c.Order(Read)("02-watch"))
	assert.Zero(t, c.Order(Exercise)("01-list/second"))
	_, err := c.Track("week")
	require.EqualError(t, err, `there is no track "week"; there is: hour, deep`)
	none, err := Load(repositorytest.New(t, nil))
	require.NoError(t, err, "a repository without tracks")
	assert.Zero(t, none.Order(Read)("START.md"))
}

func TestWhatIsWrongWithTracks(t *testing.T) {
	sound := parse(t, example)
	sound.Tracks = sound.Tracks[1:]
	require.NoError(t, sound.Check(facts()))
	for want, change := range map[string]func(*Curriculum, *Facts){
		`track hour: "01-list#2" goes back: step 3 was there before`: func(c *Curriculum, _ *Facts) { *c = parse(t, example) },
		"minutes of 02-watch: there are 1, and it takes 3":           func(c *Curriculum, _ *Facts) { c.Minutes["02-watch"] = []int{5} },
		`track deep: there is no "exercise:01-list/first"`:           func(_ *Curriculum, f *Facts) { f.Exercises = nil },
		"track deep lacks exercise:02-watch/second":                  func(_ *Curriculum, f *Facts) { f.Exercises["02-watch/second"] = Work{} },
		"track deep lacks try:02-watch/second":                       func(_ *Curriculum, f *Facts) { f.Tries["02-watch/second"] = Work{Pages: []string{"02-watch"}} },
		"track deep lacks 02-watch":                                  func(c *Curriculum, _ *Facts) { c.Tracks[0].Items = c.Tracks[0].Items[:3] },
		"track deep lacks step 1 of 02-watch":                        func(c *Curriculum, _ *Facts) { c.Tracks[0].Items[3].Steps = []int{2} },
		"the lesson has 1 steps":                                     func(c *Curriculum, _ *Facts) { c.Tracks[0].Items[3].Steps = []int{2} },
		`track deep has "02-watch" twice`:                            func(c *Curriculum, _ *Facts) { c.Tracks[0].Items = append(c.Tracks[0].Items, c.Tracks[0].Items[3]) },
		`track deep: "try:02-watch/cursor" comes before the lesson`:  func(_ *Curriculum, f *Facts) { f.Tries["02-watch/cursor"] = Work{Pages: []string{"02-watch"}, Step: 2} },
		`track deep: "exercise:01-list/first" comes before`:          func(c *Curriculum, _ *Facts) { swap(c.Tracks[0].Items, 1, 2) },
		`track deep: "02-watch" comes before 01-list, which it`:      func(c *Curriculum, _ *Facts) { swap(c.Tracks[0].Items, 1, 3) },
		`there is no track "deep"`:                                   func(c *Curriculum, _ *Facts) { c.Tracks[0].Name = "day" },
	} {
		t.Run(want, func(t *testing.T) {
			c, f := parse(t, example), facts()
			c.Tracks = c.Tracks[1:]
			change(&c, &f)
			require.ErrorContains(t, c.Check(f), want)
		})
	}
}

func swap(items []Item, a, b int) { items[a], items[b] = items[b], items[a] }
