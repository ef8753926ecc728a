package gotest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A module's test-env.sh is sourced at the top of the repository, with HEAVY if a package needs it.
func TestTheScriptOfAModuleSetsVariables(t *testing.T) {
	top := filepath.Join(t.TempDir(), "a clone")
	reads := strings.Replace(header, `"testing"`, "(\n\t\"os\"\n\t\"testing\"\n)", 1) +
		"func TestIt(t *testing.T) { t.Error(os.Getenv(\"PROGRAM\"), os.Getenv(\"HELM\")) }\n"
	for name, content := range map[string]string{
		"tools/scripts/inputs.sh": "#!/bin/sh\necho hash\n",
		"tools/heavy-tests.txt":   "# what takes long\n06/tools  ./h  # Helm\n06  ./p  # not of this module\n",
		"06/tools/go.mod":         "module example.com/m\n\ngo 1.26.0\n",
		"06/tools/p/p_test.go":    reads,
		"06/tools/h/h_test.go":    reads,
		"06/tools/test-env.sh":    "echo building\nexport PROGRAM=\"$PWD/bin/program\"\nif [ -n \"${HEAVY:-}\" ]; then export HELM=bin/helm; fi\n",
	} {
		path := filepath.Join(top, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	t.Setenv("HEAVY", "")
	t.Setenv("HELM", "")
	m := Module{Dir: filepath.Join(top, "06", "tools")}
	program := filepath.Join(top, "bin", "program")
	report, err := m.Test(t.Context(), "./p")
	require.NoError(t, err)
	assert.Contains(t, report.Package("./p").Output("TestIt"), program+" \n")
	for _, packages := range []string{"./h", "./..."} {
		report, err = m.Test(t.Context(), packages)
		require.NoError(t, err)
		assert.Contains(t, report.Package("./h").Output("TestIt"), program+" bin/helm\n", packages)
	}

	require.NoError(t, os.WriteFile(filepath.Join(m.Dir, testEnvScript), []byte("echo 'no network' >&2\nfalse\n"), 0o644))
	_, err = m.Test(t.Context(), "./p")
	require.ErrorContains(t, err, "no network")
}
