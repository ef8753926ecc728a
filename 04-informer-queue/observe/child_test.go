package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// family are children that record how they ended.
type family struct {
	children
	out, err bytes.Buffer
	codes    []int
}

func newFamily(ctx context.Context) *family {
	f := &family{children: children{stop: ctx, kill: ctx, quiet: true}}
	f.stdout, f.stderr = &f.out, &f.err
	f.ran = func(_ eventType, code int, _ time.Duration) { f.codes = append(f.codes, code) }
	return f
}

// do runs a shell script.
func (f *family) do(t *testing.T, body string, arguments ...string) error {
	t.Helper()
	return f.run(syncEvent, found(t, script(t, body), "its own"), arguments, []string{"TYPE=Sync"})
}

func TestAChildGetsArgumentsVariablesAndTheOutput(t *testing.T) {
	t.Setenv("FROM_CALLER", "mine")
	t.Setenv("TYPE", "overwritten")
	f := newFamily(t.Context())
	require.NoError(t, f.do(t, `for a; do echo "<$a>"; done; echo "$FROM_CALLER $TYPE" >&2`, "ns", "", "a b"))
	assert.Equal(t, "<its own>\n<ns>\n<>\n<a b>\n", f.out.String())
	assert.Equal(t, "mine Sync\n", f.err.String())
	assert.Equal(t, []int{0}, f.codes)
}

func TestAChildHasNothingToRead(t *testing.T) {
	f := newFamily(t.Context())
	require.NoError(t, f.do(t, `if read -r line; then echo "read $line"; else echo nothing; fi`))
	assert.Equal(t, "nothing\n", f.out.String())
}

func TestHowAChildCanFail(t *testing.T) {
	f := newFamily(t.Context())
	require.ErrorContains(t, f.do(t, "exit 3"), "script: exit status 3")
	require.ErrorContains(t, f.do(t, "kill -TERM $$"), "script: signal: terminated")
	err := f.run(syncEvent, program{[]string{"nowhere"}, "/nowhere"}, nil, nil)
	require.EqualError(t, err, "nowhere: fork/exec /nowhere: no such file or directory")
	require.ErrorContains(t, f.do(t, "exit 0", strings.Repeat("x", 1<<20)),
		"argument list too long: an argument or a variable is too large, or has a NUL; leave that field out")
	assert.Equal(t, []int{3, -1, -1, -1}, f.codes)
}

func TestAnExitCodeCanMeanOnceMore(t *testing.T) {
	tests := map[string]struct {
		retryExitCode int
		code          string // $n is which run it is
		want          []int
	}{
		"never, by default":         {0, "75", []int{75}},
		"so many times":             {75, "75", []int{75, 75, 75}},
		"another code is a failure": {75, "1", []int{1}},
		"until it succeeds":         {75, "$((n < 2 ? 75 : 0))", []int{75, 0}},
		"until it fails otherwise":  {75, "$((n < 2 ? 75 : 9))", []int{75, 9}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "runs")
			t.Setenv("FILE", file)
			f := newFamily(t.Context())
			f.retryExitCode, f.retryCount = tc.retryExitCode, 2
			err := f.do(t, "echo run >>$FILE; n=$(wc -l <$FILE); exit "+tc.code)
			assert.Equal(t, tc.want, f.codes)
			assert.Equal(t, strings.Repeat("run\n", len(tc.want)), content(file))
			assert.Equal(t, tc.want[len(tc.want)-1] != 0, err != nil)
		})
	}
}

func TestOutputIsThatOfTheLastRun(t *testing.T) {
	f := newFamily(t.Context())
	f.retryExitCode, f.retryCount = 75, 2
	file := filepath.Join(t.TempDir(), "runs")
	p := found(t, script(t, fmt.Sprintf("echo run >>%[1]s; cat %[1]s; echo noise >&2; test $(wc -l <%[1]s) = 2 || exit 75", file)))
	printed, err := f.output(namesEvent, p)
	require.NoError(t, err)
	assert.Equal(t, "run\nrun\n", printed)
	assert.Equal(t, []int{75, 0}, f.codes)
	assert.Empty(t, f.out.String())
	assert.Equal(t, "noise\nnoise\n", f.err.String())
}

func TestAKillTakesWhatTheChildHasStarted(t *testing.T) {
	kill, cancel := context.WithCancel(t.Context())
	f := newFamily(kill)
	file := filepath.Join(t.TempDir(), "pids")
	ended := make(chan error, 1)
	body := fmt.Sprintf("trap '' TERM INT\nsleep 1000 &\necho $$ $! >%[1]s.new; mv %[1]s.new %[1]s\nwait", file)
	p := found(t, script(t, body))
	go func() { ended <- f.run(syncEvent, p, nil, nil) }()
	eventually(t, func() bool { return content(file) != "" }, f.err.String)

	cancel()
	require.ErrorIs(t, <-ended, errKilled)
	for pid := range strings.FieldsSeq(content(file)) {
		eventually(t, func() bool { return !alive(t, pid) }, func() string { return "alive: " + pid })
	}
	assert.Equal(t, []int{-1}, f.codes)

	require.ErrorIs(t, f.run(syncEvent, p, nil, nil), errKilled, "and none is started any more")
}

func TestADaemonThatIsLeftBehindIsNotWaitedFor(t *testing.T) {
	f := newFamily(t.Context())
	printed, err := f.output(namesEvent, found(t, script(t, "sleep 1000 & echo $!")))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(printed))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it still runs")
}

// alive reports whether a process exists and is not a zombie.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	require.NoError(t, err)
	// luck: a zombie is looked for below
	if syscall.Kill(n, 0) != nil {
		return false
	}
	stat, _ := os.ReadFile("/proc/" + pid + "/stat") // without /proc, as on a Mac, it's no zombie
	return !strings.Contains(string(stat), ") Z ")
}

func TestAChildIsNotRunAgainAfterASignal(t *testing.T) {
	f := newFamily(t.Context())
	stop, end := context.WithCancel(t.Context())
	f.stop, f.retryExitCode, f.retryCount = stop, 75, 5
	f.ran = func(_ eventType, code int, _ time.Duration) {
		f.codes = append(f.codes, code)
		end()
	}
	require.ErrorContains(t, f.do(t, "exit 75"), "exit status 75")
	assert.Equal(t, []int{75}, f.codes)
}
