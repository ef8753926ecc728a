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
		"lab/bin/lab":                        "a program",
		"lab/go.mod":                         "module example.com/lab\n\ngo 1.26.0\n",
		"lab/go.sum":                         "",
		"lab/cmd/lab/main.go":                "package main\n",
		"lab/internal/cli/cli.go":            "package cli\n",
		"lab/internal/lifeline/lifeline.go":  "package lifeline\n",
		"lab/internal/upstream/apiserver.go": "package upstream\n",
		"tools/heavy-tests.txt":              "06  ./heavy  # it takes long\n",
		"tools/unraced-tests.txt":            "06  ./p  # nothing runs beside anything\n",
		"06/heavy/heavy_test.go":             "package heavy\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestLab(t *testing.T) { t.Log(os.Getenv(\"LAB_INPUTS\")) }\n",
		"pg/bin/postgres":                    "another",
		"06/go.mod":                          "module example.com/six\n\ngo 1.26.0\n",
		"06/m/m.go":                          "// Package m does nothing.\npackage m\n\nvar Above = []string{\"../..\", \"../gone\", \"../../05/config/../roles\"}\n",
		"06/m/m_test.go":                     "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nconst crds = \"../../05/crds\"\n\nfunc TestServer(t *testing.T) { t.Log(os.Getenv(\"TEST_INPUTS\")) }\n",
		"06/p/p_test.go":                     "package p\n\nimport \"testing\"\n\nfunc TestPure(*testing.T) {}\n",
		"05/go.mod":                          "module example.com/five\n\ngo 1.26.0\n",
		"05/crds/at.yaml":                    "kind: At\n",
		"05/roles/at.yaml":                   "kind: Role\n",
		"05/other.yaml":                      "kind: Other\n",
		"tools/go.mod":                       "module example.com/tools\n\ngo 1.26.0\n",
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
		file      string
		test, lab bool // which of the two hashes changes
	}{
		"the lab's program":                {"lab/bin/lab", false, true},
		"what its API server is made of":   {"lab/internal/upstream/apiserver.go", true, false},
		"the versions that it is made of":  {"lab/go.mod", true, false},
		"what else it is made of":          {"lab/internal/cli/cli.go", false, false}, // the program changes with it
		"PostgreSQL":                       {"pg/bin/postgres", true, false},
		"a folder that a test names":       {"05/crds/at.yaml", true, false},
		"a new file in it":                 {"05/crds/settings.yaml", true, false},
		"what a helper of tests names":     {"05/roles/at.yaml", true, false},
		"what nobody names":                {"05/other.yaml", false, false},
		"the module itself, which Go sees": {"06/p/p_test.go", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := newRepository(t)
			assets := filepath.Join(root, "lab", "bin")
			before, err := find(root, "06", assets, filepath.Join(root, "pg"))
			require.NoError(t, err)
			again, err := find(root, "06", assets, filepath.Join(root, "pg"))
			require.NoError(t, err)
			assert.Equal(t, before, again)

			write(t, filepath.Join(root, tc.file), "package other\n")
			after, err := find(root, "06", assets, filepath.Join(root, "pg"))
			require.NoError(t, err)
			assert.Equal(t, tc.test, before.test != after.test, "TEST_INPUTS")
			assert.Equal(t, tc.lab, before.lab != after.lab, "LAB_INPUTS")
		})
	}
}

// Someone who tests with an API server of setup-envtest has no sources of it.
func TestAnAPIServerWithoutSourcesIsItsProgram(t *testing.T) {
	root, assets := newRepository(t), t.TempDir()
	write(t, filepath.Join(assets, "kube-apiserver"), "a program")
	before, err := find(root, "06", assets, "")
	require.NoError(t, err)
	write(t, filepath.Join(assets, "kube-apiserver"), "another program")
	after, err := find(root, "06", assets, "")
	require.NoError(t, err)
	assert.NotEqual(t, before.test, after.test)
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
	// run returns the line of each package that was tested, by its name.
	run := func(env ...string) map[string]string {
		command := exec.CommandContext(t.Context(), "sh", "tools/scripts/test-module.sh", "06")
		command.Dir = root
		command.Env = append(os.Environ(), append([]string{"KUBEBUILDER_ASSETS=", "PG_HOME=", "RACE=", "HEAVY=", "TEST_LOG="}, env...)...)
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		lines := map[string]string{}
		for line := range strings.Lines(string(output)) {
			if rest, ok := strings.CutPrefix(line, "ok  \texample.com/six/"); ok {
				name, result, _ := strings.Cut(rest, "\t")
				lines[name] = result
			}
		}
		return lines
	}
	run()
	lines := run()
	assert.Contains(t, lines["m"], "(cached)", "nothing has changed")
	assert.NotContains(t, lines, "heavy", "make test leaves it to make test-heavy")

	if _, err := exec.LookPath("gcc"); err == nil { // which the race detector needs
		lines = run("RACE=1")
		assert.NotContains(t, lines["m"], "(cached)", "the race detector makes another program of it")
		assert.Contains(t, lines["p"], "(cached)", "this one is tested without it")
	}

	write(t, filepath.Join(root, "lab", "internal", "upstream", "apiserver.go"), "package upstream // another\n")
	lines = run()
	assert.NotContains(t, lines["m"], "(cached)", "the API server has changed, and the test was answered from the cache")
	assert.Contains(t, lines["p"], "(cached)", "this one starts no API server")

	write(t, filepath.Join(root, "05", "crds", "at.yaml"), "kind: At\nversion: 2\n")
	assert.NotContains(t, run()["m"], "(cached)", "a CRD of another module has changed")

	run("HEAVY=1")
	lines = run("HEAVY=1")
	assert.Contains(t, lines["heavy"], "(cached)", "nothing has changed")
	assert.Len(t, lines, 1, "make test-heavy tests nothing else")
	write(t, filepath.Join(root, "lab", "bin", "lab"), "another program")
	assert.NotContains(t, run("HEAVY=1")["heavy"], "(cached)", "the lab has changed")
	assert.Contains(t, run()["m"], "(cached)", "its API server is the same")
}

func TestWrongInputIsOneSentence(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":      {nil, 2, "inputs: name the repository and the folder of a module in it: inputs . 06-shipping\n"},
		"not a module": {[]string{t.TempDir(), "07"}, 1, "inputs: 07 isn't a module: "},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, tc.code, run(tc.args, "", "", &stdout, &stderr))
			assert.Contains(t, stderr.String(), tc.want)
			assert.Empty(t, stdout.String())
		})
	}
}
