package scripts

// These are the tests of preflight.sh: what Go needs of a
// machine and lacks is one sentence that says what to do.

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// check runs the script with variables in place of those of this shell. A variable without a
// value is not set.
func check(t *testing.T, folder string, credential *syscall.Credential, env map[string]string, args ...string) (output string, err error) {
	t.Helper()
	script, err := filepath.Abs("preflight.sh")
	require.NoError(t, err)
	content, err := os.ReadFile(script)
	require.NoError(t, err)
	// As text: another user may not be able to read the file.
	command := exec.CommandContext(t.Context(), "sh", append([]string{"-c", string(content), "preflight.sh"}, args...)...)
	command.Dir = folder
	command.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	command.Env = []string{"GOWORK=off"}
	for _, name := range []string{"PATH", "HOME", "GOCACHE", "GOMODCACHE", "GOPROXY", "TMPDIR", "GOTMPDIR", "GOFLAGS", "GOENV"} {
		value, given := env[name]
		if !given {
			value = os.Getenv(name)
		}
		if value != "" {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	out, err := command.CombinedOutput()
	return string(out), err
}

const top = "../.."

func TestWhatGoLacksIsOneSentence(t *testing.T) {
	empty, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("GOFLAGS=-mod=vendor\n"), 0o600))
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"no Go":               {map[string]string{"PATH": empty}, "Go is not installed, or not in PATH. Get Go 1.26 or newer: https://go.dev/dl\n"},
		"no home":             {map[string]string{"HOME": "", "GOCACHE": "", "GOMODCACHE": ""}, "HOME is not set, and Go keeps its caches there: export HOME=A-FOLDER-OF-YOURS\n"},
		"no home for one":     {map[string]string{"HOME": "", "GOCACHE": "", "GOMODCACHE": empty}, "HOME is not set, and Go keeps its caches there: export HOME=A-FOLDER-OF-YOURS\n"},
		"a vendor folder":     {map[string]string{"GOFLAGS": "-mod=vendor -race"}, "GOFLAGS has -mod=vendor, and nothing is vendored here: export GOFLAGS='-mod=readonly -race'\n"},
		"by go env -w":        {map[string]string{"GOFLAGS": "", "GOENV": file}, "GOFLAGS has -mod=vendor, and nothing is vendored here: export GOFLAGS='-mod=readonly'\n"},
		"no network":          {map[string]string{"GOPROXY": "off", "GOMODCACHE": empty}, "GOPROXY is off, and Go's module cache, " + empty + ", lacks what is compiled here: with a network, run once: go env -u GOPROXY; env -u GOPROXY make prefetch; without one, see \"When the network is bad\" in docs/INSTRUCTORS.md\n"},
		"no build cache":      {map[string]string{"GOCACHE": file + "/cache"}, "Go cannot write to its build cache, " + file + "/cache: change its owner, or choose another: export GOCACHE=A-FOLDER-OF-YOURS\n"},
		"no module cache":     {map[string]string{"GOMODCACHE": file + "/modules"}, "Go cannot write to its module cache, " + file + "/modules: change its owner, or choose another: export GOMODCACHE=A-FOLDER-OF-YOURS\n"},
		"no temporary folder": {map[string]string{"TMPDIR": file}, "TMPDIR is " + file + ", where no temporary file can be made: export TMPDIR=A-FOLDER-OF-YOURS\n"},
		"the same for Go":     {map[string]string{"GOTMPDIR": file}, "GOTMPDIR is " + file + ", where no temporary file can be made: export GOTMPDIR=A-FOLDER-OF-YOURS\n"},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := check(t, top, nil, tc.env)
			require.Error(t, err)
			assert.Equal(t, tc.want, output)
		})
	}
}

func TestNothingIsPrintedWhereGoHasWhatItNeeds(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"this machine":            nil,
		"off, but all is there":   {"GOPROXY": "off"},
		"cold, and a network":     {"GOMODCACHE": filepath.Join(t.TempDir(), "modules"), "GOPROXY": "https://proxy.example.com"},
		"the advice for GOFLAGS":  {"GOFLAGS": "-mod=readonly -race"},
		"a harmless flag":         {"GOFLAGS": "-mod=mod"},
		"a folder with a bracket": {"TMPDIR": bracketed(t)},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := check(t, top, nil, env, "1")
			require.NoError(t, err, output)
			assert.Empty(t, output)
		})
	}
}

func bracketed(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "w [x]")
	require.NoError(t, os.Mkdir(folder, 0o755))
	return folder
}

// newAccount makes a folder with a Go that has its caches beside it, and everything in them, and
// with a disk that is free by 300 megabytes. Everybody may enter it.
func newAccount(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for path := folder; path != filepath.Clean(os.TempDir()) && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755))
	}
	for name, text := range map[string]string{
		"go": `case "$1 $2" in
"env GOFLAGS") printf '\ndirect\n\n%s\n%s\n' "$PWD/modules" "$PWD/cache" ;;
*) if [ -e "$PWD/modules/client-go" ]; then echo "$PWD/modules/client-go"; fi ;;
esac`,
		"df": `printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\nmap of disks 999999 1 307200 50%% /a disk\n'`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	for _, name := range []string{"cache/00", "cache/ff", "modules/client-go"} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, name), 0o777))
	}
	for _, name := range []string{"cache", "cache/00", "cache/ff", "modules"} {
		require.NoError(t, os.Chmod(filepath.Join(folder, name), 0o777)) // whatever the umask
	}
	return folder
}

// onMachine runs the script there, as a user who does not own the caches, if this one is root.
func onMachine(t *testing.T, machine string, args ...string) (string, error) {
	t.Helper()
	var credential *syscall.Credential
	if os.Geteuid() == 0 {
		credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	return check(t, machine, credential, map[string]string{"PATH": machine + ":" + os.Getenv("PATH"), "TMPDIR": "/tmp"}, args...)
}

func TestACacheMustBeWritableWhereGoWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		locked string
		empty  bool // the module cache
		want   string
	}{
		"a build cache":             {"cache", false, "Go cannot write to its build cache, "},
		"a part of it, after sudo":  {"cache/ff", false, "Go cannot write to its build cache, "},
		"a module cache with all":   {"modules", false, ""},
		"a module cache with a gap": {"modules", true, "Go cannot write to its module cache, "},
	} {
		t.Run(name, func(t *testing.T) {
			machine := newAccount(t)
			if tc.empty {
				require.NoError(t, os.Remove(filepath.Join(machine, "modules", "client-go")))
			}
			output, err := onMachine(t, machine)
			require.NoError(t, err, output)

			require.NoError(t, os.Chmod(filepath.Join(machine, tc.locked), 0o555))
			output, err = onMachine(t, machine)
			assert.Equal(t, tc.want == "", err == nil, output)
			assert.Contains(t, output, tc.want)
		})
	}
}

func TestTemporaryFilesNeedRoom(t *testing.T) {
	machine := newAccount(t)
	output, err := onMachine(t, machine, "300")
	require.NoError(t, err, output)
	output, err = onMachine(t, machine, "301")
	require.Error(t, err)
	assert.Equal(t, "300 MB are free for temporary files in /tmp, and 301 are needed: make room, or export TMPDIR=/var/tmp\n", output)
}
