package vulncheck

// These are the tests of govulncheck.sh, with a database in
// which a function of the standard library is vulnerable.

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// database is the folder of a database, in its published form.
func database(t *testing.T) string {
	t.Helper()
	return lay(t, map[string]string{
		"index/db.json":      `{"modified":"2024-01-01T00:00:00Z"}`,
		"index/modules.json": `[{"path":"stdlib","vulns":[{"id":"GO-2024-0001","modified":"2024-01-01T00:00:00Z"}]}]`,
		"ID/GO-2024-0001.json": `{"schema_version":"1.3.1","id":"GO-2024-0001","modified":"2024-01-01T00:00:00Z","summary":"titles are not safe",
			"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"strings","symbols":["ToTitle"]}]}}],
			"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2024-0001"}}`,
	})
}

// module is the folder of a module whose program calls a function.
func module(t *testing.T, call string) string {
	t.Helper()
	return lay(t, map[string]string{
		"go.mod":  "module example.com/program\n\ngo 1.26.0\n",
		"main.go": "package main\n\nimport \"strings\"\n\nfunc main() { println(" + call + ") }\n",
	})
}

func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "a folder")
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o600))
	}
	return root
}

func TestVulnerabilities(t *testing.T) {
	for _, file := range []string{"../govulncheck.sh", "../../pinned/govulncheck/go.mod"} {
		_, err := os.ReadFile(file) // for go test's cache
		require.NoError(t, err)
	}
	good, bad := module(t, `strings.ToUpper("a")`), module(t, `strings.ToTitle("a")`)
	known, missing := "file://"+database(t), "file://"+filepath.Join(t.TempDir(), "missing")
	for sentence, tc := range map[string]struct {
		database string
		modules  []string
		code     int
		want     string
	}{
		"a module that calls nothing of it":  {known, []string{good}, 0, "No vulnerabilities found."},
		"a module without Go code":           {known, []string{lay(t, map[string]string{"go.mod": "module example.com/versions\n"})}, 0, ""},
		"one of several that calls it":       {known, []string{bad, good}, 1, "these modules call something with a known vulnerability; raise its version: " + bad + "\n"},
		"the database that does not answer":  {missing, []string{good, bad}, 1, "govulncheck failed in " + good + ", see above; it needs " + missing + ", or a copy of that in VULNDB\n"},
		"a module that does not compile":     {known, []string{module(t, "moon")}, 1, "govulncheck failed in "},
		"one that is found before a failure": {known, []string{bad, module(t, "moon")}, 1, "govulncheck failed in "},
	} {
		t.Run(sentence, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), "sh", append([]string{"tools/scripts/govulncheck.sh"}, tc.modules...)...)
			command.Dir = "../../.."
			command.Env = append(os.Environ(), "VULNDB="+tc.database)
			out, err := command.CombinedOutput()
			if tc.code == 0 {
				require.NoError(t, err, "%s", out)
			} else {
				require.Error(t, err)
				assert.Equal(t, tc.code, command.ProcessState.ExitCode(), "%s", out)
			}
			assert.Contains(t, string(out), tc.want)
		})
	}
}
