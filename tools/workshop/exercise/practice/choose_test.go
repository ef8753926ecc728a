package practice

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// chosen is the exercise that a command is about.
func (l learner) chosen(name string) (string, error) {
	l.Helper()
	var out bytes.Buffer
	c, err := l.open(&out).choose(l.Context(), name)
	require.Empty(l, out.String())
	return c.ID, err
}

func TestACommandIsAboutTheExerciseThatIsMeant(t *testing.T) {
	l := newLearner(t)
	_, err := l.chosen("")
	require.EqualError(t, err, "no exercise is started; to list them: bin/workshop list")
	_, err = l.chosen("silent")
	require.EqualError(t, err, "1-silent is not started; to start it: make exercise N=1 NAME=silent")
	_, err = l.chosen("4-lost")
	require.EqualError(t, err, `there is no exercise "4-lost"; to list them: bin/workshop list`)

	l.mustStart("1", "silent")
	l.mustStart("1", "lost")
	for name, want := range map[string]string{"": "1-lost", "silent": "1-silent", "1-silent": "1-silent", "1/silent": "1-silent", "01/silent": "1-silent"} {
		id, err := l.chosen(name)
		require.NoError(t, err)
		assert.Equal(t, want, id)
	}
	id, err := l.in(".workshop", "1-silent", "01-sums").chosen("")
	require.NoError(t, err)
	assert.Equal(t, "1-silent", id, "the current directory is in that copy")

	require.NoError(t, os.RemoveAll(l.copyPath("1-lost")))
	_, err = l.chosen("")
	require.EqualError(t, err, "there is no copy of 1-lost in .workshop/1-lost any more; to make one: make exercise N=1 NAME=lost")
}

func TestANameThatTwoStagesHaveIsNotEnough(t *testing.T) {
	l := newLearner(t)
	repositorytest.Write(t, l.home.Path("02-more", "go.mod"), "module example.com/more\n")
	p := l.open(nil)
	_, err := p.named("lost", []string{"1-lost", "2-lost"})
	require.EqualError(t, err, `"lost" can be 1-lost or 2-lost; name one of them`)
	id, err := p.named("2-lost", []string{"1-lost", "2-lost"})
	require.NoError(t, err)
	assert.Equal(t, "2-lost", id)
}
