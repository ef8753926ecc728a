package image

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// command runs the program in the folder of the stand-in, and returns what it says.
func command(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems strings.Builder
	code = cli.Run(ctx, Command(Build), args, &out, &problems)
	return code, out.String(), problems.String()
}

// parse returns what the program would build.
func parse(t *testing.T, args ...string) (got Options, stderr string) {
	t.Helper()
	var problems strings.Builder
	run := func(_ context.Context, o Options, _ io.Writer) error { got = o; return nil }
	cli.Run(t.Context(), Command(run), args, io.Discard, &problems)
	return got, problems.String()
}

func TestTheProgramPrintsWhatItMade(t *testing.T) {
	t.Chdir(copyModule(t))
	inRepository(t, "..")
	t.Setenv("SOURCE_DATE_EPOCH", "")

	code, stdout, stderr := command(t, t.Context(), "--version=v7", "--revision=abc", "--platform="+here)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `^compiling ./cmd/manager for `+here+`: this takes minutes the first time, and seconds from then on
made cnat-manager:v7 of revision abc, in \d+m?\d*s
  \.\./bin/cnat-manager\.tar, \d\.\d MB, sha256:[0-9a-f]{64}
$`, stdout)
	assert.Contains(t, stdout, only(t, readArchive(t, "../bin/cnat-manager.tar")).Digest.String())
}

func TestWrongInput(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	for sentence, tc := range map[string]struct{ args, want string }{
		"it does not compile":            {"--version=v1", "compiling for linux/" + runtime.GOARCH + ": go build: exit status 1\n"},
		"the output folder is a file":    {"--output=file/image.tar", "making the folder of the archive: mkdir file: not a directory; choose another for it"},
		"there is no such platform":      {"--platform=linux/amd64,plan9", `there is no platform "plan9"; choose of linux/amd64, linux/arm64, darwin/amd64, darwin/arm64; see image --help`},
		"no platform":                    {"--platform=", "--platform is empty; see image --help"},
		"a version that is no tag":       {"--version=v1/2", `--version "v1/2" is no tag: that is up to 128 letters, digits, dots, dashes and underscores; see image --help`},
		"a revision that breaks -X":      {"--revision=it's", `--revision "it's" is not the name of a commit; see image --help`},
		"an argument that is no flag":    {"image.tar", `unexpected argument "image.tar"; see image --help`},
		"a flag that does not exist":     {"--moon", "unknown flag: --moon; see image --help"},
		"a revision that is not a value": {"--revision=", `--revision "" is not the name of a commit; see image --help`},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Chdir(copyModule(t))
			require.NoError(t, os.WriteFile("file", nil, 0o600))
			require.NoError(t, os.WriteFile("cmd/manager/broken.go", []byte("package main\nvar number int = \"\"\n"), 0o600))
			code, _, stderr := command(t, t.Context(), "--revision=abc", tc.args)
			assert.Equal(t, 1, code)
			assert.True(t, strings.HasPrefix(stderr, "error: "), stderr)
			assert.Contains(t, stderr, tc.want)
			left, err := filepath.Glob("../bin/*")
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	o, stderr := parse(t, "--revision=abc")
	require.Empty(t, stderr)
	assert.EqualValues(t, 1700000000, o.Created.Unix())
	assert.Equal(t, []string{"../bin/cnat-manager.tar", "v0.6.0", "abc", "linux/" + runtime.GOARCH},
		append([]string{o.Output, o.Version, o.Revision}, o.Platforms...))
}

func TestCtrlCEndsTheBuild(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := command(t, ctx, "--revision=abc", "--output="+filepath.Join(t.TempDir(), "image.tar"))
	assert.Equal(t, 1, code)
	assert.Equal(t, "error: interrupted; what was compiled so far is kept, so the next build goes on from there\n", stderr)
}

func TestTheRevision(t *testing.T) {
	t.Chdir(copyModule(t))
	t.Setenv("SOURCE_DATE_EPOCH", "")
	check := func(revision string, created int64, args ...string) {
		t.Helper()
		o, stderr := parse(t, args...)
		require.Empty(t, stderr)
		assert.Equal(t, revision, o.Revision)
		assert.Equal(t, created, o.Created.Unix())
	}
	refuses := func(want string) {
		t.Helper()
		_, stderr := parse(t)
		require.Contains(t, stderr, want)
	}

	const unknown = "git does not know this commit; say it with --revision, and its time, in seconds since 1970, with SOURCE_DATE_EPOCH "
	refuses(unknown + "(fatal: not a git repository (or any of the parent directories): .git)")
	hash := inRepository(t, "..")
	check(hash, 1600000000) // the commit's time
	require.NoError(t, os.WriteFile("new.go", []byte("package shipping"), 0o600))
	check(hash+"-dirty", 1600000000)
	check("abc", 1600000000, "--revision=abc")
	t.Setenv("SOURCE_DATE_EPOCH", "1650000000")
	check(hash+"-dirty", 1650000000)

	for _, wrong := range []string{"yesterday", "-1", "9000000000"} {
		t.Setenv("SOURCE_DATE_EPOCH", wrong)
		refuses(`SOURCE_DATE_EPOCH is "` + wrong + `", which is no number of seconds since 1970; correct or unset it`)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	t.Setenv("PATH", "")
	refuses(unknown + "(exec: ")
}

// inRepository commits all that is in a folder, and returns the commit.
func inRepository(t *testing.T, folder string) string {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	hash := printed(t, "sh", "-ec", `cd "$0"
git init --quiet
git add .
export GIT_AUTHOR_DATE='1500000000 +0000' GIT_COMMITTER_DATE='1600000000 +0000'
git -c user.name=Jane -c user.email=jane@example.com commit --quiet --message=first
git rev-parse HEAD`, folder)
	require.Regexp(t, "^[0-9a-f]{40}$", hash)
	return hash
}
