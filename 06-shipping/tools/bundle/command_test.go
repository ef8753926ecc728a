package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestTheProgram(t *testing.T) {
	base := filepath.Join(packaging, "olm/base.yaml")
	bundles := filepath.Join(packaging, "bundle")
	first, second := filepath.Join(bundles, "v0.6.0"), filepath.Join(bundles, "v0.6.1")
	var manifests strings.Builder
	for _, object := range built(t, "v0.6.0") {
		content, err := yaml.Marshal(object.Object)
		require.NoError(t, err)
		manifests.WriteString("---\n" + string(content))
	}
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.yaml")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	out := filepath.Join(dir, "out")
	for name, tc := range map[string]struct {
		args   []string
		stdin  string
		stdout string
		stderr string
	}{
		"a bundle":    {[]string{"make", "--base", base, "--version=v0.6.0", "--output", out}, manifests.String(), "left out: ValidatingAdmissionPolicy cnat-pods. OLM knows no such kind.", ""},
		"a catalogue": {[]string{"catalog", "--output", filepath.Join(dir, "catalog.yaml"), first, second}, "", "the channel stable-v0 of cnat, with 2 versions", ""},
		"help":        {[]string{"--help"}, "", "Operator Lifecycle Manager", ""},

		"an unknown flag":        {[]string{"make", "--image"}, "", "", "unknown flag: --image"},
		"no base":                {[]string{"make", "--version=v0.6.0", "--output", out}, "", "", `required flag(s) "base" not set`},
		"a base that is not":     {[]string{"make", "--base", out + "/none", "--version=v0.6.0", "--output", out}, "", "", "no such file"},
		"a base without content": {[]string{"make", "--base", empty, "--version=v0.6.0", "--output", out}, "", "", "it needs a package, a channel and a csv with a spec"},
		"no manifests":           {[]string{"make", "--base", base, "--version=v0.6.0", "--output", out}, "", "", "there are 0 Deployments"},
		"no objects":             {[]string{"make", "--base", base, "--version=v0.6.0", "--output", out}, "a: 1", "", "it has no kind or no name"},
		"no bundles":             {[]string{"catalog", "--output", out}, "", "", "a catalogue needs a bundle"},
		"no bundle":              {[]string{"catalog", "--output", out, dir}, "", "", "give the folder of a bundle"},
		"the newest first":       {[]string{"catalog", "--output", out, second, first}, "", "", `cnat.v0.6.0 replaces "", and cnat.v0.6.1 is before it; give each bundle after the one that it replaces`},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := Main(tc.args, strings.NewReader(tc.stdin), &stdout, &stderr)
			assert.Contains(t, stdout.String(), tc.stdout)
			assert.Contains(t, stderr.String(), tc.stderr)
			assert.Equal(t, tc.stderr != "", code != 0)
			assert.Equal(t, tc.stderr != "", stdout.Len() == 0)
		})
	}
	wantFiles(t, first, out)
}

// wantFiles compares all files of two folders.
func wantFiles(t *testing.T, want, got string) {
	t.Helper()
	for _, pattern := range []string{"manifests/*", "metadata/*"} {
		wanted, err := filepath.Glob(filepath.Join(want, pattern))
		require.NoError(t, err)
		written, err := filepath.Glob(filepath.Join(got, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, wanted)
		require.Len(t, written, len(wanted))
		for i := range wanted {
			expected, err := os.ReadFile(wanted[i])
			require.NoError(t, err)
			actual, err := os.ReadFile(written[i])
			require.NoError(t, err)
			assert.Equal(t, string(expected), string(actual), wanted[i])
		}
	}
}
