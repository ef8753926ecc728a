package practice

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// hostile is a git configuration of a user, with all that changes what git prints,
// writes into files, or refuses. It names nobody.
const hostile = `
[user]
	useConfigOnly = true
[diff]
	noprefix = true
	mnemonicPrefix = true
	relative = true
	context = 0
	external = false
	submodule = log
[color]
	ui = always
	diff = always
	status = always
[core]
	autocrlf = true
	eol = crlf
	safecrlf = true
	hooksPath = /nowhere/to/be/found
	whitespace = trailing-space,cr-at-eol
	quotePath = false
[apply]
	whitespace = error
[commit]
	gpgsign = true
	verbose = true
[gpg]
	program = false
[status]
	showUntrackedFiles = no
	short = true
	branch = true
[branch]
	autoSetupMerge = always
`

// withHostileGit lets every git of the test read that configuration, the learner's, too.
func withHostileGit(t *testing.T) {
	t.Helper()
	// Go keeps its caches where they are.
	caches, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOPATH", "GOMODCACHE").Output()
	require.NoError(t, err)
	for i, path := range strings.Fields(string(caches)) {
		t.Setenv([]string{"GOCACHE", "GOPATH", "GOMODCACHE"}[i], path)
	}
	home := t.TempDir()
	config := filepath.Join(home, ".gitconfig")
	repositorytest.Write(t, config, hostile)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", config)
}

func TestTheLearnersGitConfigurationDoesNotMatter(t *testing.T) {
	l := newLearner(t)
	withHostileGit(t)
	out := l.mustStart("1", "lost")
	assert.NotContains(t, out, "uncommitted")
	file := l.copyPath("1-lost", "01-sums", "sum", "sum.go")
	assert.NotContains(t, repositorytest.Read(t, file), "\r")
	_, err := l.check("")
	require.ErrorIs(t, err, ErrNotYet)

	// The learner's own git brings a test back, and it counts as intact.
	test := l.copyPath("1-lost", "01-sums", "sum", "sum_test.go")
	repositorytest.Write(t, test, "package sum\n")
	_, err = l.check("")
	require.ErrorContains(t, err, "these files have changed: '01-sums/sum/sum_test.go';")
	checkout := exec.CommandContext(t.Context(), "git", "checkout", "broken/1-lost", "--", "01-sums/sum/sum_test.go")
	checkout.Dir = l.copyPath("1-lost")
	printed, err := checkout.CombinedOutput()
	require.NoError(t, err, string(printed))
	_, err = l.check("")
	require.ErrorIs(t, err, ErrNotYet)

	out, err = l.solution(false)
	require.NoError(t, err)
	assert.Contains(t, out, "\n\ndiff --git a/01-sums/sum/sum.go b/01-sums/sum/sum.go\n")
	assert.Contains(t, out, "\n-\t\ttotal = n\n+\t\ttotal += n\n")

	exercisetest.Edit(t, file, "total = n", "total = 7 ") // gofmt would not, but it is theirs
	repositorytest.Write(t, l.copyPath("1-lost", "01-sums", "notes.txt"), "mine\r\n")
	mine := repositorytest.Read(t, file)
	_, err = l.solution(true)
	require.NoError(t, err)
	_, err = l.check("")
	require.NoError(t, err)
	_, err = l.reset("")
	require.NoError(t, err)
	l.git(l.copyPath("1-lost"), "apply", l.copyPath("1-lost-1.patch"))
	assert.Equal(t, mine, repositorytest.Read(t, file))
	assert.True(t, exists(l.copyPath("1-lost", "01-sums", "notes.txt")))
}
