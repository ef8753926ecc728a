package image_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/image"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
)

func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems strings.Builder
	code = cli.Run(t.Context(), image.Command(), args, &out, &problems)
	return code, out.String(), problems.String()
}

func TestTheProgramPrintsWhatItHasMade(t *testing.T) {
	found := testpostgres.Find(t)
	archive := filepath.Join(t.TempDir(), "postgres.tar")
	code, stdout, stderr := command(t, "--minor", "--agent=./testdata/agent", "--output="+archive)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `^PostgreSQL \d+\S+ \(.+\) in /\S.*
made postgres-member:\S+ in (\d+m)?\d+(\.\d)?s: /\S.*/postgres\.tar, \d+\.\d MB
  sha256:[0-9a-f]{64}
  with the licences of PostgreSQL, 0 Go modules and \d+ packages of this machine
`, stdout)
	assert.Contains(t, stdout, "PostgreSQL "+found.Version+" ")
	assert.Contains(t, stdout, "made postgres-member:"+found.Version+" in ")

	code, stdout, stderr = command(t, "--find")
	require.Zero(t, code, stderr)
	assert.Equal(t, found.Home()+"\n", stdout)
}

func TestWrongInputIsOneSentence(t *testing.T) {
	t.Setenv("PG_HOME", "/nowhere")
	for name, tc := range map[string]struct{ args, want string }{
		"a flag that does not exist":  {"--moon", "error: unknown flag: --moon; see image --help\n"},
		"an argument that is no flag": {"moon", "error: unexpected argument \"moon\"; see image --help\n"},
		"no PostgreSQL in PG_HOME":    {"--find", "error: PG_HOME is /nowhere: lstat /nowhere: no such file or directory; set it to the folder whose bin/ has postgres and initdb, or unset it\n"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, tc.args)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Equal(t, tc.want, stderr)
		})
	}
	code, stdout, _ := command(t, "--help")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "--npm")
}

func TestAnAgentThatDoesNotCompile(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "postgres.tar")
	require.NoError(t, os.WriteFile(archive, []byte("old"), 0o600))
	_, err := image.Make(t.Context(), image.Options{Agent: "./no/such/agent", Output: archive})
	require.ErrorContains(t, err, "compiling the agent: go build: exit status 1\nstat ")
	content, err := os.ReadFile(archive)
	require.NoError(t, err)
	assert.Equal(t, "old", string(content), "the old one is left")
}
