package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/glossary"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/track"
)

const sound = "# Stage 1: list\n\n**Core** · 12 minutes · Afterwards you can list\nanything.\n\nAbout it.\n\n" +
	"## Why\n\n" +
	"## Step 1: Run it\n\n**Now you:** `one`. A.\n\n**Now you:** `two`. B.\n\n**Now you:** `three`. C.\n\n```bash exec\necho\n```\n\n" +
	"## Step 2: Break it\n\n**Predict:** what?\n\n```bash exec\necho\n```\n"

func write(t *testing.T, readme string) repository.Repository {
	t.Helper()
	return repositorytest.New(t, map[string]string{
		"tools/go.mod": "module tools\n", "01-list/go.mod": "module list\n", "01-list/README.md": readme,
		track.File:    "minutes: {01-list: [4, 3, 2, 3]}\n",
		glossary.File: strings.Repeat("- **list**: a request. [Stage 1](../01-list/README.md#why)\n", 8),
	})
}

func TestALessonSaysWhatItIs(t *testing.T) {
	r := write(t, sound)
	require.NoError(t, Check(r))
	lessons, err := lesson.Of(r, repository.Stage{Number: 1, Folder: "01-list"})
	require.NoError(t, err)
	line, err := Read(lessons[0])
	require.NoError(t, err)
	assert.Equal(t, Line{Core: true, Minutes: 12, Afterwards: "Afterwards you can list\nanything."}, line)
	for name, test := range map[string]struct{ old, replacement, want string }{
		"nothing":       {"**Core** · 12 minutes · Afterwards you can list\nanything.\n\n", "", "01-list/README.md doesn't say below its title what it is"},
		"another kind":  {"Core", "Side path", "doesn't say below its title"},
		"no afterwards": {"Afterwards you can", "Here you", "doesn't say below its title"},
		"other minutes": {"12 minutes", "15 minutes", "says that it takes 15 minutes, and tools/workshop/tracks.yaml that it's 12"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, Check(write(t, strings.Replace(sound, test.old, test.replacement, 1))), test.want)
		})
	}
}

func TestACoreLessonHasLimits(t *testing.T) {
	for limit, test := range map[string]struct{ old, replacement, want string }{
		"words":     {"About it.", strings.Repeat("word ", 2200), "words of prose, 2200 at most"},
		"steps":     {"## Step 1", strings.Repeat("## Step 3: more\n\n", 6) + "## Step 1", "has 8 steps, 7 at most"},
		"tries":     {"**Now you:** `three`. C.", "", "has 2 tries"},
		"questions": {"**Predict:** what?", "", "before it breaks something: step 2"},
	} {
		t.Run(limit, func(t *testing.T) {
			readme := strings.Replace(sound, test.old, test.replacement, 1)
			require.ErrorContains(t, Check(write(t, readme)), test.want)
			require.NoError(t, Check(write(t, strings.Replace(readme, "Core", "Deep dive", 1))), "a deep dive has none")
		})
	}
	r := write(t, sound)
	repositorytest.Write(t, r.Path(glossary.File), strings.Repeat("- **list**: a request. [Stage 1](../01-list/README.md)\n", 9))
	require.ErrorContains(t, Check(r), "brings 9 new terms")
}

func TestWhatBuildsAProgramHasMoreTries(t *testing.T) {
	tries := func(n int) string {
		return strings.Replace(sound, "**Now you:** `three`. C.", strings.Repeat("**Now you:** `more`. C.\n\n", n-2), 1)
	}
	require.NoError(t, Check(write(t, tries(5))))
	r := write(t, tries(6))
	require.ErrorContains(t, Check(r), "has 6 tries (**Now you:**), it has to have 3 to 5")
	repositorytest.Write(t, r.Path("01-list/lesson/exercises/tries/judge.yaml"), "kind: try\n")
	require.ErrorContains(t, Check(r), "3 to 5", "its tries change a program that is there")
	repositorytest.Write(t, r.Path("01-list/lesson/exercises/tries/break.patch"), "a skeleton\n")
	require.NoError(t, Check(r))
	repositorytest.Write(t, r.Path("01-list/README.md"), tries(9))
	require.ErrorContains(t, Check(r), "has 9 tries (**Now you:**), it has to have 3 to 8")
}

func TestOnlyProseIsCounted(t *testing.T) {
	assert.Equal(t, 5, Words("Two words - and `code`.\n\n```sh\nnot this\n```\n\nNor <!-- nor this --> <!-- nor\nthis -->\n"))
}
