package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newRepository makes one with a lab and two modules: the tests of the first start the
// API server and read files of the second. It returns its folder.
func newRepository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"lab/bin/lab":      "a program",
		"pg/bin/postgres":  "another",
		"06/go.mod":        "module example.com/six\n\ngo 1.26.0\n",
		"06/m/m.go":        "// Package m does nothing.\npackage m\n\nvar Above = []string{\"../..\", \"../gone\", \"../../05/config/../roles\"}\n",
		"06/m/m_test.go":   "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nconst crds = \"../../05/crds\"\n\nfunc TestServer(t *testing.T) { t.Log(os.Getenv(\"TEST_INPUTS\")) }\n",
		"06/p/p_test.go":   "package p\n\nimport \"testing\"\n\nfunc TestPure(*testing.T) {}\n",
		"05/go.mod":        "module example.com/five\n\ngo 1.26.0\n",
		"05/crds/at.yaml":  "kind: At\n",
		"05/roles/at.yaml": "kind: Role\n",
		"05/other.yaml":    "kind: Other\n",
		"tools/go.mod":     "module example.com/tools\n\ngo 1.26.0\n",
	} {
		write(t, filepath.Join(root, name), content)
	}
	require.NoError(t, os.Symlink("lab", filepath.Join(root, "lab", "bin", "kube-apiserver")))
	return root
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func TestTheHashIsOfWhatATestReadsOutsideItsModule(t *testing.T) {
	for name, tc := range map[string]struct {
		file   string
		counts bool
	}{
		"the lab":                          {"lab/bin/lab", true},
		"PostgreSQL":                       {"pg/bin/postgres", true},
		"a folder that a test names":       {"05/crds/at.yaml", true},
		"a new file in it":                 {"05/crds/settings.yaml", true},
		"what a helper of tests names":     {"05/roles/at.yaml", true},
		"what nobody names":                {"05/other.yaml", false},
		"the module itself, which Go sees": {"06/p/p_test.go", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := newRepository(t)
			assets := filepath.Join(root, "lab", "bin")
			before, err := hash(root, "06", assets, filepath.Join(root, "pg"))
			require.NoError(t, err)
			again, err := hash(root, "06", assets, filepath.Join(root, "pg"))
			require.NoError(t, err)
			assert.Equal(t, before, again)

			write(t, filepath.Join(root, tc.file), "package other\n")
			after, err := hash(root, "06", assets, filepath.Join(root, "pg"))
			require.NoError(t, err)
			assert.Equal(t, tc.counts, before != after)
		})
	}
}

// The tests are run by the script that make runs.
func TestAChangedLabRunsTheTestsAnew(t *testing.T) {
	root := newRepository(t)
	require.NoError(t, os.CopyFS(filepath.Join(root, "tools", "cmd", "inputs"), os.DirFS(".")))
	for _, script := range []string{"test-module.sh", "inputs.sh"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "scripts", script))
		require.NoError(t, err)
		write(t, filepath.Join(root, "tools", "scripts", script), string(content))
	}
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("PG_HOME", "")
	t.Setenv("RACE", "")
	run := func() (server, pure string) {
		command := exec.CommandContext(t.Context(), "sh", "tools/scripts/test-module.sh", "06")
		command.Dir = root
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		for line := range strings.Lines(string(output)) {
			switch {
			case strings.HasPrefix(line, "ok  \texample.com/six/m\t"):
				server = line
			case strings.HasPrefix(line, "ok  \texample.com/six/p\t"):
				pure = line
			}
		}
		require.NotEmpty(t, server, "%s", output)
		return server, pure
	}
	run()
	server, _ := run()
	assert.Contains(t, server, "(cached)", "nothing has changed")

	write(t, filepath.Join(root, "lab", "bin", "lab"), "another program")
	server, pure := run()
	assert.NotContains(t, server, "(cached)", "the lab has changed, and the test was answered from the cache")
	assert.Contains(t, pure, "(cached)", "this one starts no API server")

	write(t, filepath.Join(root, "05", "crds", "at.yaml"), "kind: At\nversion: 2\n")
	server, _ = run()
	assert.NotContains(t, server, "(cached)", "a CRD of another module has changed")
}

func TestWrongInputIsOneSentence(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":      {nil, 2, "inputs: name the repository and the folder of a module in it: inputs . 06-shipping\n"},
		"not a module": {[]string{t.TempDir(), "07"}, 1, "inputs: 07 is no module: "},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, tc.code, run(tc.args, "", "", &stdout, &stderr))
			assert.Contains(t, stderr.String(), tc.want)
			assert.Empty(t, stdout.String())
		})
	}
}
