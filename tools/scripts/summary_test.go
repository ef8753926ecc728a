package scripts

// These are the tests of slowest.sh, flaky.sh and badge.sh, which read what the gate leaves.

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// event is a line of go test -json.
func event(action, pkg, test string, seconds float64) string {
	line := fmt.Sprintf(`{"Time":"2026-01-01T00:00:00Z","Action":%q,"Package":"example.com/hacking-a-controller/%s"`, action, pkg)
	if test != "" {
		line += fmt.Sprintf(`,"Test":%q`, test)
	}
	return line + fmt.Sprintf(`,"Elapsed":%g}`, seconds)
}

// answered says that a package came from the cache.
func answered(pkg string) string {
	return fmt.Sprintf(`{"Action":"output","Package":"example.com/hacking-a-controller/%s","Output":"ok  \tname\t(cached)\n"}`, pkg)
}

func write(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

func sh(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", args...).CombinedOutput()
	return string(out), err
}

func TestTheSlowestComeFirst(t *testing.T) {
	tests := write(t, "06-shipping.json",
		event("pass", "06-shipping/e2e", "TestQuick", 0.5), event("pass", "06-shipping/e2e", "TestSlow/part", 50),
		event("pass", "06-shipping/e2e", "TestSlow", 61.25), event("fail", "06-shipping/e2e", "TestRed", 7),
		event("pass", "06-shipping/e2e", "", 70), // the package
		event("pass", "06-shipping/config", "TestOfYesterday", 300), answered("06-shipping/config"))
	proofs := write(t, "prove-times",
		"lesson\tstage 6/manager\t200.5\tpassed", "lesson\tstage 1\t90\tcached", "exercise\t4-tombstone\t20\tpassed")

	out, err := sh(t, "slowest.sh", "4", proofs, tests, filepath.Join(t.TempDir(), "missing.json"))
	require.NoError(t, err, out)
	assert.Equal(t, `the slowest:
  200.5 s  lesson stage 6/manager
   61.2 s  test 06-shipping/e2e TestSlow
   20.0 s  exercise 4-tombstone
    7.0 s  test 06-shipping/e2e TestRed
`, out)
}

func TestATestThatIsNotAlwaysGreenIsNamed(t *testing.T) {
	green := write(t, "1.json", event("pass", "01", "TestA", 1), event("pass", "01", "TestB", 1), event("pass", "01", "", 2))
	out, err := sh(t, "flaky.sh", green, green)
	require.NoError(t, err, out)
	assert.Empty(t, out)

	red := write(t, "2.json", event("pass", "01", "TestA", 1), event("fail", "01", "TestB", 1), event("fail", "01", "", 2))
	broken := write(t, "3.json", event("fail", "01", "", 0))
	out, err = sh(t, "flaky.sh", green, red, green)
	require.Error(t, err)
	assert.Equal(t, "FAIL\t01 TestB: 1 of 3 runs\n", out)
	out, err = sh(t, "flaky.sh", green, broken)
	require.Error(t, err)
	assert.Equal(t, "FAIL\t01: 1 of 2 runs\n", out, "it did not compile")
	out, err = sh(t, "flaky.sh", green, "none.json")
	require.Error(t, err)
	assert.Contains(t, out, "there is no none.json: no test has run")
}

func TestABadgeSaysHowManyAreProved(t *testing.T) {
	times := write(t, "prove-times", "lesson\t1\t49\tpassed", "exercise\t1-login\t27\tpassed", "lesson\t3\t0\tcached", "branch\tstage-1\t0\tpassed")
	svg, err := sh(t, "badge.sh", "lesson", times)
	require.NoError(t, err, svg)
	require.NoError(t, xml.Unmarshal([]byte(svg), new(struct{})))
	assert.Contains(t, svg, `aria-label="lessons proved: 2"`)

	for want, line := range map[string]string{
		"badge.sh: 1 of 2 lessons proved\n": "lesson\t3\t5\tfailed",
		"badge.sh: 0 of 0 lessons proved\n": "",
	} {
		times := write(t, "prove-times", strings.Repeat("lesson\t1\t49\tpassed\n", min(1, len(line)))+line)
		out, err := sh(t, "badge.sh", "lesson", times)
		require.Error(t, err)
		assert.Equal(t, want, out)
	}
}
