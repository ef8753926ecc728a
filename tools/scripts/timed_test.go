package scripts

// These are the tests of timed.sh and test-modules.sh: what make test
// shows of how far it is, and of how long it took before.

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository is a folder with the two scripts, a clock that a test moves, and a test.sh that is
// the test's own.
type repository struct {
	t      *testing.T
	folder string
	env    []string
}

func newRepository(t *testing.T, testScript string) repository {
	t.Helper()
	r := repository{t: t, folder: t.TempDir()}
	for _, script := range []string{"timed.sh", "test-modules.sh"} {
		content, err := os.ReadFile(script)
		require.NoError(t, err)
		r.write("tools/scripts/"+script, string(content))
	}
	r.write("tools/scripts/test-module.sh", testScript)
	r.write("fakes/date", "#!/bin/sh\ncat \"$NOW\"\n")
	r.setClock("1000")
	return r
}

func (r repository) write(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.folder, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o755))
}

func (r repository) setClock(second string) { r.write("now", second+"\n") }

func (r repository) command(args ...string) *exec.Cmd {
	command := exec.CommandContext(r.t.Context(), "sh", args...)
	command.Dir = r.folder
	// Those of a make test that runs this test are not meant.
	command.Env = append(os.Environ(), "DONE=", "MODULES=", "BEGAN=", "RACE=", "JOBS=",
		"PATH="+filepath.Join(r.folder, "fakes")+":"+os.Getenv("PATH"), "NOW="+filepath.Join(r.folder, "now"))
	command.Env = append(command.Env, r.env...)
	return command
}

func (r repository) timed(code int) string {
	r.t.Helper()
	r.setClock("1000")
	command := r.command("tools/scripts/timed.sh", "06-shipping", "sh", "tools/scripts/test-module.sh", "06-shipping")
	output, _ := command.CombinedOutput()
	assert.Equal(r.t, code, command.ProcessState.ExitCode(), "%s", output)
	return string(output)
}

// These are what a test.sh does that takes 65 or 185 seconds.
const (
	quick  = "echo 1065 > now; printf 'ok  \\tsix\\t1.0s\\n'\n"
	slow   = "echo 1185 > now; printf 'ok  \\tsix\\t3.0s\\n'\n"
	cached = "echo 1002 > now; printf 'ok  \\tsix\\t(cached)\\n'\n"
	failed = "echo 1065 > now; printf 'FAIL\\tsix\\t1.0s\\n'; exit 1\n"
)

func TestTheTimeOfTheLastRunIsShown(t *testing.T) {
	for name, tc := range map[string]struct {
		before []string // what was run
		want   string
	}{
		"nothing was run":         {nil, "==> testing 06-shipping\n"},
		"one run":                 {[]string{quick}, "==> testing 06-shipping, which took 1m5s the last time\n"},
		"the last of two":         {[]string{quick, slow}, "==> testing 06-shipping, which took 3m5s the last time\n"},
		"not what came from Go's": {[]string{quick, cached}, "==> testing 06-shipping, which took 1m5s the last time\n"},
		"not what failed":         {[]string{slow, failed}, "==> testing 06-shipping, which took 3m5s the last time\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t, "")
			for _, script := range tc.before {
				r.write("tools/scripts/test-module.sh", script)
				code := 0
				if script == failed {
					code = 1
				}
				r.timed(code)
			}
			r.write("tools/scripts/test-module.sh", quick)
			assert.Equal(t, tc.want+"ok  \tsix\t1.0s\n==> 06-shipping: passed in 1m5s\n", r.timed(0))
		})
	}
}

func TestTheRaceDetectorHasTimesOfItsOwn(t *testing.T) {
	r := newRepository(t, slow)
	r.env = []string{"RACE=1"}
	r.timed(0)
	r.env = nil
	assert.Contains(t, r.timed(0), "==> testing 06-shipping\n")
}

func TestAFailureIsShownAndHandedOn(t *testing.T) {
	r := newRepository(t, failed)
	assert.Contains(t, r.timed(1), "FAIL\tsix\t1.0s\n==> 06-shipping: failed in 1m5s\n")
}

func TestEachModuleIsCountedOnceWhenSeveralEndTogether(t *testing.T) {
	modules := strings.Fields("a b c d e f g h i j k l")
	r := newRepository(t, `printf 'ok  \t%s\t%s\n' "$1" "$*"`)
	r.env = []string{"JOBS=12"}
	output, err := r.command(append([]string{"tools/scripts/test-modules.sh", "-timeout", "20m", "--"}, modules...)...).CombinedOutput()
	require.NoError(t, err, "%s", output)

	var counts []string
	for _, found := range regexp.MustCompile(`(?m)^==> [a-l]: passed in 0s; (\d+) of 12 modules done after 0s$`).FindAllStringSubmatch(string(output), -1) {
		counts = append(counts, found[1])
	}
	want := strings.Fields("1 10 11 12 2 3 4 5 6 7 8 9")
	slices.Sort(counts)
	assert.Equal(t, want, counts, "%s", output)
	// The gate counts these lines.
	assert.Equal(t, len(modules), bytes.Count(output, []byte("ok  \t")))
	assert.Contains(t, string(output), "ok  \tk\tk -timeout 20m\n", "the flags")
}

func TestOneFailureOfSeveralFailsAllAndIsNamed(t *testing.T) {
	r := newRepository(t, `[ "$1" != b ]`)
	output, err := r.command("tools/scripts/test-modules.sh", "--", "a", "b", "c").CombinedOutput()
	require.Error(t, err)
	assert.Regexp(t, `(?m)^==> b: failed in 0s; [1-3] of 3 modules done`, string(output))
	assert.Contains(t, string(output), "some tests failed: see the lines that begin with FAIL\n")
}

// Otherwise nobody would see how far it is.
func TestALineIsShownBeforeTheTestsEnd(t *testing.T) {
	r := newRepository(t, "echo first; i=0; until [ -e seen ] || [ $i = 300 ]; do i=$((i + 1)); sleep 0.1; done; [ -e seen ] && echo second\n")
	command := r.command("tools/scripts/timed.sh", "06-shipping", "sh", "tools/scripts/test-module.sh")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	var shown []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		shown = append(shown, lines.Text())
		if lines.Text() == "first" {
			r.write("seen", "")
		}
	}
	require.NoError(t, command.Wait())
	assert.Equal(t, []string{"==> testing 06-shipping", "first", "second", "==> 06-shipping: passed in 0s"}, shown)
}
