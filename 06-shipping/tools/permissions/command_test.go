package permissions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheExitCodeIsTheVerdict(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		return name
	}
	role, bound := file("role.yaml", object("ClusterRole", "", "r", getPods)), file("binding.yaml", binding("", "r", toOperator))
	event := func(verb, id string) string {
		return strings.Replace(line(allowed+`"verb":"`+verb+`","objectRef":{"resource":"pods","namespace":"demo","name":"p"}`), `"auditID":"1"`, `"auditID":"`+id+`"`, 1)
	}
	get, list, empty := file("audit.log", event("get", "1")), file("audit-old.log", event("list", "2")), file("empty.log", "")
	for name, tc := range map[string]struct {
		args           []string
		stdin          string
		code           int
		stdout, stderr string
	}{
		"nothing":          {[]string{"--service-account=demo/operator", "--rules", role, "--rules", bound, get}, "", 0, "and nothing else", ""},
		"something":        {[]string{"--service-account=demo/operator", "--rules", role, "--rules", bound, get, list}, "", 1, "Missing: 1", ""},
		"rules from stdin": {[]string{"--service-account=demo/operator", "--rules", "-", get}, object("ClusterRole", "", "r", getPods) + binding("", "r", toOperator), 0, "and nothing else", ""},
		"help":             {[]string{"--help"}, "", 0, "--rules FILE AUDIT_LOG", ""},

		"no flags":              {nil, "", 2, "", "write NAMESPACE/NAME"},
		"an unknown flag":       {[]string{"--audit"}, "", 2, "", "see permissions --help"},
		"no rules":              {[]string{"--service-account=demo/operator", get}, "", 2, "", "name the manifests with --rules"},
		"no log":                {[]string{"--service-account=demo/operator", "--rules", role}, "", 2, "", "the files of the audit log"},
		"a file that is not":    {[]string{"--service-account=demo/operator", "--rules", filepath.Join(dir, "none"), get}, "", 2, "", "no such file"},
		"a log that is not one": {[]string{"--service-account=demo/operator", "--rules", role, "--rules", bound, role}, "", 2, "", "role.yaml: event 1: invalid character"},
		"rules that are not":    {[]string{"--service-account=demo/operator", "--rules", bound, get}, "", 2, "", "its role is not"},
		"nobody is bound":       {[]string{"--service-account=demo/operator", "--rules", role, get}, "", 2, "", "no binding in"},
		"nobody asked":          {[]string{"--service-account=demo/operator", "--rules", role, "--rules", bound, empty}, "", 2, "", "has no request of the service account demo/operator"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			assert.Equal(t, tc.code, Main(tc.args, strings.NewReader(tc.stdin), &stdout, &stderr))
			assert.Contains(t, stdout.String(), tc.stdout)
			assert.Contains(t, stderr.String(), tc.stderr)
			assert.Equal(t, tc.code == unknown, stderr.Len() > 0)
			assert.Equal(t, tc.code == unknown, stdout.Len() == 0)
		})
	}
}

func TestWhatIsNoAccount(t *testing.T) {
	for _, wrong := range []string{"", "cnat-manager", "/cnat-manager", "cnat-system/", "a/b/c", "system:serviceaccount:a:b", "A/b"} {
		_, err := ParseAccount(wrong)
		assert.ErrorContains(t, err, "write NAMESPACE/NAME", "%q", wrong)
	}
}
