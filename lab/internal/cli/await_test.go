package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

// asLab makes this test program the lab's.
const asLab = "TEST_AS_LAB"

func TestMain(m *testing.M) {
	if os.Getenv(asLab) != "" {
		os.Exit(Run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// runLab runs the lab's program, and returns what it printed.
func runLab(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asLab+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

func TestAwaitPrintsOnlyWhatTheLastTryPrinted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file")
	out, errOut, err := runLab(t, "await", fmt.Sprintf("echo try >> '%[1]s'; echo \"see $(wc -l < '%[1]s')\" | tr -s ' '; echo aside >&2; test $(wc -l < '%[1]s') = 3", file))
	require.NoError(t, err, errOut)
	assert.Equal(t, "see 3\n", out)
	assert.Empty(t, errOut)
}

// What the lab makes itself is another matter: see newRoot.
func TestACommandOfTheUsersHasTheUsersUmask(t *testing.T) {
	before := syscall.Umask(0o077)
	out, errOut, err := runLab(t, "await", "umask")
	syscall.Umask(before)
	require.NoError(t, err, errOut)
	assert.Equal(t, "77", strings.TrimLeft(strings.TrimSpace(out), "0"))
}

func TestAwaitGivesUp(t *testing.T) {
	for name, tc := range map[string]struct{ command, printed string }{
		"when every try fails":    {"echo seen; echo refused >&2; exit 3", "seen\nrefused\n"},
		"when a try does not end": {"echo begun; sleep 1000", "begun\n"},
		"when it is no command":   {"syntax (", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, errOut, err := runLab(t, "await", "--for=5s", tc.command) // in which also a busy machine starts a shell
			require.ErrorContains(t, err, "exit status 1")
			assert.Empty(t, out)
			assert.Contains(t, errOut, tc.printed)
			assert.True(t, strings.HasSuffix(errOut, "lab: still not so after 5s: "+tc.command+"\n"), errOut)
		})
	}
}

func TestAwaitSaysOnceWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[time.Duration]int{9 * time.Second: 0, 30 * time.Second: 1} {
			var notice strings.Builder
			require.Error(t, await(t.Context(), io.Discard, io.Discard, &notice, "echo refused >&2; false", limit))
			said := fmt.Sprintf("lab: waiting, for %s at most, until this succeeds: echo refused >&2; false\nrefused\n", limit)
			assert.Equal(t, want, strings.Count(notice.String(), said), notice.String())
		}
	})
}

func TestAwaitDoesNotWaitForWhatATryHasLeftInTheBackground(t *testing.T) {
	out, errOut, err := runLab(t, "await", "sleep 1000 & echo $!")
	require.NoError(t, err, errOut)
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it was ended")
}

func TestAnInterruptEndsAwaitAndItsTry(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Timeout())
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "await", "--for=10h", "sleep 1000 & echo $! > '"+file+"'; wait")
	cmd.Env = append(os.Environ(), asLab+"=1")
	var errOut strings.Builder
	cmd.Stderr = &errOut
	require.NoError(t, cmd.Start())
	var pid int
	require.Eventually(t, func() bool {
		data, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid != 0
	}, testenv.Timeout(), 10*time.Millisecond)
	try := testenv.ProcessOf(pid)
	require.False(t, try.Ended())
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.ErrorContains(t, cmd.Wait(), "exit status 1")
	assert.Contains(t, errOut.String(), "lab: interrupted; this was not so yet: sleep 1000")
	testenv.ExpectEnd(t, try)
}

func TestWrongUsageOfAwaitIsOneSentence(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no command":            {nil, "name the command, in quotes: lab await 'test -e ready'"},
		"a command in pieces":   {[]string{"test", "-e", "ready"}, "unknown shorthand flag: 'e' in -e"},
		"two commands":          {[]string{"true", "false"}, "name the command, in quotes: lab await 'test -e ready'"},
		"an empty command":      {[]string{""}, "the command is empty: lab await 'test -e ready'"},
		"no time":               {[]string{"--for=0s", "true"}, "--for is 0s, and has to be more than nothing"},
		"a time without a unit": {[]string{"--for=2", "true"}, `invalid argument "2" for "--for" flag: time: missing unit in duration "2"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, errOut, err := runLab(t, append([]string{"await"}, tc.args...)...)
			require.ErrorContains(t, err, "exit status 1")
			assert.Empty(t, out)
			assert.Equal(t, "lab: "+tc.want, strings.TrimSpace(errOut))
		})
	}
}
