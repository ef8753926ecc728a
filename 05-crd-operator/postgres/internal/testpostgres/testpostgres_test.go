package testpostgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/image"
)

func TestOnlyAMachineWithoutOneLeavesATestOut(t *testing.T) {
	none := fmt.Errorf("looking: %w", image.ErrNotInstalled)
	for name, tc := range map[string]struct {
		err  error
		ci   string
		want bool
	}{
		"a newcomer has none":       {none, "", true},
		"CI has none":               {none, "true", false},
		"PG_HOME names no server":   {errors.New("PG_HOME is /wrong"), "", false},
		"there is one, so no error": {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", tc.ci)
			assert.Equal(t, tc.want, leftOut(tc.err))
		})
	}
}

// The script that make sources before the tests.
func TestWhatIsLeftOutIsReported(t *testing.T) {
	script, err := filepath.Abs("../../test-env.sh")
	require.NoError(t, err)
	_, err = os.ReadFile(script) // for go test's cache
	require.NoError(t, err)
	const sentence = "LEFT OUT: the tests of 05-crd-operator/postgres that run PostgreSQL: there is none\n"
	none := "echo 'error: there is none' >&2; exit 1"
	for name, tc := range map[string]struct {
		find            string // what the program does that looks for one
		home, ci        string
		stdout, leftOut string
	}{
		"there is one":            {find: "echo /some/where", stdout: "/some/where\n"},
		"there is none":           {find: none, stdout: "\n", leftOut: sentence},
		"there is none, with CI":  {find: none, ci: "true", stdout: "\n"},
		"PG_HOME names no server": {find: none, home: "/wrong", stdout: "/wrong\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "05-crd-operator", "postgres"), 0o755))
			compiler := `#!/bin/sh
{ echo '#!/bin/sh'; echo "$FIND"; } >bin/postgres-image && chmod +x bin/postgres-image
`
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(compiler), 0o755))
			leftOut := filepath.Join(dir, "left-out")
			require.NoError(t, os.WriteFile(leftOut, nil, 0o644))
			shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", `. "$SCRIPT"; sh -c 'echo "${PG_HOME:-}"'`)
			shell.Dir = dir
			shell.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "SCRIPT=" + script, "FIND=" + tc.find, "LEFT_OUT=" + leftOut, "PG_HOME=" + tc.home, "CI=" + tc.ci}
			stdout, err := shell.Output()
			require.NoError(t, err)
			assert.Equal(t, tc.stdout, string(stdout))
			content, err := os.ReadFile(leftOut)
			require.NoError(t, err)
			assert.Equal(t, tc.leftOut, string(content))
		})
	}
}
