package curriculum

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/track"
)

const readme = `# Stage 1: sums

## Why

## Step 1: Add

See [a try](lesson/exercises/silent/README.md).

## Exercises

- [lost](lesson/exercises/lost/README.md), [again](lesson/exercises/lost/)
- [smallest](lesson/exercises/smallest/)
`

const tracks = `
minutes: {START.md: [10], 01-sums: [2, 3, 4]}
tracks:
- {name: hour, title: an hour, items: [START.md, 01-sums#1, 'exercise:01-sums/smallest']}
- {name: deep, title: all, items: [START.md, 01-sums, 'exercise:01-sums/smallest', 'exercise:01-sums/lost', 'exercise:01-sums/silent']}
`

func TestThePagesAreMadeOfTheTracks(t *testing.T) {
	r := exercisetest.New(t)
	require.NoError(t, Write(r), "a repository without tracks")
	require.NoError(t, Check(r))
	repositorytest.Write(t, r.Path("01-sums", "README.md"), readme)
	repositorytest.Write(t, r.Path(track.File), tracks)
	repositorytest.Write(t, r.Path(Start), "# Start\n\n"+begins+"stale\n"+ends+"the end\n")
	repositorytest.Write(t, r.Path(Agenda), "# Teach\n")
	require.ErrorContains(t, Check(r), Start+" isn't what tools/workshop/tracks.yaml makes of it; run: make generate")
	require.ErrorContains(t, Check(r), Agenda+" has no place for the tracks")
	require.ErrorContains(t, Write(r), Agenda+" has no place for the tracks")

	repositorytest.Write(t, r.Path(Agenda), begins+ends)
	require.NoError(t, Write(r))
	require.NoError(t, Check(r))
	assert.Contains(t, repositorytest.Read(t, r.Path(Start)), "| this page | 10 |\n| [1: sums](01-sums/) | 1; `smallest`: 10 |\n| together | 20 min |\n\n"+ends+"the end\n")
	assert.Contains(t, repositorytest.Read(t, r.Path(Agenda)), "| 09:00 | [START.md](../START.md) | 10 |\n")
}

func TestWhereAnExerciseIsNamed(t *testing.T) {
	r := exercisetest.New(t)
	repositorytest.Write(t, r.Path("01-sums", "README.md"), readme)
	facts, err := Facts(r, track.Curriculum{})
	require.NoError(t, err)
	assert.Equal(t, track.Work{Minutes: 5, Pages: []string{"01-sums"}}, facts.Exercises["01-sums/lost"])
	assert.Equal(t, 1, facts.Exercises["01-sums/silent"].Step)
}
