package lesson

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// A lab that writes its kubeconfig, and a kubectl whose objects are lines of a file beside it.
const (
	playedLab = aLab + "mkdir -p ../.lab\nif [ $1 = reset ]; then rm -f ../objects; else echo 'clusters: [{cluster: {server: \"https://127.0.0.1:1\"}}]' > ../.lab/kubeconfig; fi\n"
	kubectl   = "#!/bin/sh\necho namespace/default\ntest ! -f ../objects || cat ../objects\n"
)

// A table is a fixture whose lesson is played.
type table struct {
	*fixture
	r        repository.Repository
	key      rune // what the reader answers
	question string
	done     []int
}

func newTable(t *testing.T) *table {
	t.Helper()
	f := newFixture(t)
	f.files[".gitignore"] += "*.txt\n/.lab/\n/objects\n"
	f.files["lab/bin/lab"], f.files["lab/bin/kubectl"] = playedLab, kubectl
	t.Setenv("KUBECONFIG", "")
	t.Setenv("LAB_DIR", "")
	return &table{fixture: f}
}

func (p *table) play(ctx context.Context, to int) (string, error) {
	p.t.Helper()
	if p.r.Root == "" {
		p.r = p.repository()
		require.NoError(p.t, os.Chmod(p.r.Path("lab", "bin", "kubectl"), 0o755))
	}
	stage, err := p.r.Stage("3")
	require.NoError(p.t, err)
	lessons, err := Of(p.r, stage)
	require.NoError(p.t, err)
	var out bytes.Buffer
	player := Player{
		Repository: p.r, Out: &out, Timeout: p.timeout,
		Ask: func(_ context.Context, question string) (rune, error) {
			p.question = question
			return p.key, nil
		},
		Done: func(_ Lesson, step Step) error {
			p.done = append(p.done, step.Number)
			return nil
		},
	}
	err = player.Play(ctx, lessons[0], to)
	return out.String(), err
}

func TestALessonIsPlayed(t *testing.T) {
	p := newTable(t)
	p.readme("false; echo \"exit code $?\"\n", "echo $KUBECONFIG\nsleep 1000 &\n")
	out, err := p.play(t.Context(), 2)
	require.NoError(t, err)
	assert.Contains(t, out, "stage 3, step 1 of 2: Write\n$ echo one > one.txt\ndone\n\nstage 3, step 2 of 2: Write again\n$ echo two > two.txt\n$ echo $KUBECONFIG\n$ sleep 1000 &\n"+p.r.Path(".lab", "kubeconfig")+"\n")
	assert.Contains(t, out, "\nStep 2 is done. Go on in 03-watch/README.md:") // there is no third
	assert.Regexp(t, `Still running: sleep 1000; to end it: kill -- -\d+\n`, out)
	var group int
	_, err = fmt.Sscanf(out[bytes.LastIndexByte([]byte(out), '-'):], "-%d", &group)
	require.NoError(t, err)
	(&shell{groups: []int{group}}).end()
	assert.Equal(t, []int{1, 2}, p.done)
	assert.Empty(t, p.question, "an empty lab")
	assert.Equal(t, "up", p.asked())
}

func TestItAsksBeforeItPlaysInALabThatIsNotEmpty(t *testing.T) {
	p := newTable(t)
	_, err := p.play(t.Context(), 1)
	require.NoError(t, err)
	repositorytest.Write(t, p.r.Path("objects"), "namespace/harbour\n")
	p.key = 'n'
	_, err = p.play(t.Context(), 2)
	require.EqualError(t, err, "nothing was played")
	assert.Contains(t, p.question, "The lab isn't empty: namespace/harbour, namespace/harbour, 03-watch/one.txt\n  y  play steps 2 to 2 there\n  r  remove all of that")
	p.key = 'y'
	_, err = p.play(t.Context(), 1)
	require.NoError(t, err)
	assert.Contains(t, p.question, "y  go on: step 1 is done\n")
	_, err = p.play(t.Context(), 2)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, p.done)

	p.key = 'r'
	out, err := p.play(t.Context(), 1)
	require.NoError(t, err)
	before, _, _ := strings.Cut(p.files["03-watch/README.md"], "## Step 2")
	assert.Contains(t, out, fmt.Sprintf("\nStep 1 is done. Go on in 03-watch/README.md:%d,", 1+strings.Count(before, "\n")))
	assert.Equal(t, []int{1, 2, 1}, p.done)
	assert.NoFileExists(t, p.r.Path("objects"))
	assert.NoFileExists(t, p.r.Path("03-watch", "two.txt"))
}

func TestItPlaysOnlyInTheLab(t *testing.T) {
	p := newTable(t)
	_, err := p.play(t.Context(), 3)
	require.EqualError(t, err, "name the last step of stage 3 to play, such as --to=2:\n  1  Write\n  2  Write again")

	elsewhere := filepath.Join(t.TempDir(), "config")
	repositorytest.Write(t, elsewhere, "clusters: []\n")
	t.Setenv("KUBECONFIG", elsewhere)
	_, err = p.play(t.Context(), 2)
	require.ErrorContains(t, err, "this shell's KUBECONFIG is "+elsewhere+", and a lesson is played only in the lab")
	t.Setenv("KUBECONFIG", "")

	for _, config := range []string{"", "clusters: [{cluster: {server: https://prod.example.com}}]", "clusters: [{cluster: {server: 'https://127.0.0.1:1'}}, {}]"} {
		repositorytest.Write(t, p.r.Path("lab", "bin", "lab"), "#!/bin/sh\nmkdir -p ../.lab\ncat > ../.lab/kubeconfig <<END\n"+config+"\nEND\n")
		_, err = p.play(t.Context(), 2)
		require.ErrorContains(t, err, "it should name one cluster, on this machine")
	}
	repositorytest.Write(t, p.r.Path("lab", "bin", "lab"), "#!/bin/sh\necho no port is free\nexit 1\n")
	_, err = p.play(t.Context(), 2)
	require.ErrorContains(t, err, "no port is free")
	require.NoError(t, os.Remove(p.r.Path("lab", "bin", "lab")))
	_, err = p.play(t.Context(), 2)
	require.ErrorContains(t, err, "make lab-up")
	assert.Empty(t, p.done)
}

func TestAPlayStopsWhereSomethingDiffers(t *testing.T) {
	for name, test := range map[string]struct{ block, want string }{
		"a check":   {"echo nothing", "step 1: lesson/checks/step1.sh fails after the step (exit code 1): one.txt is not there yet"},
		"a command": {"frobnicate", "a command was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTable(t)
			p.readme("echo one > one.txt", test.block)
			_, err := p.play(t.Context(), 2)
			require.ErrorContains(t, err, test.want)
			assert.Empty(t, p.done)
		})
	}
	p := newTable(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.play(ctx, 2)
	require.EqualError(t, err, "interrupted; what was running is ended, and what was done stays")
}
