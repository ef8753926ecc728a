package image

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dpkg makes a dpkg-query that knows files and packages, on a machine whose /lib is a link.
func dpkg(t *testing.T, search string) {
	t.Helper()
	dir := t.TempDir()
	program(t, filepath.Join(dir, "dpkg-query"), "case $1 in --search) cat <<'END'\n"+search+"\nEND\nexit 1 ;; esac\nshift 3\nfor name; do echo \"$name 1.0, source: $name 1.0\"; done")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestThePackageOfAFile(t *testing.T) {
	dpkg(t, `diversion by dash from: /bin/sh
libc6:amd64, libc6:i386: /usr/lib/x/libc.so.6
libpq5:amd64: /lib/x/libpq.so.5
dash: /bin/dash`)
	packages, unknown := packagesOf(t.Context(), []string{"/bin/dash", "/lib/x/libc.so.6", "/opt/own", "/usr/lib/x/libpq.so.5"})
	assert.Equal(t, []string{"dash", "libc6", "libpq5"}, packages)
	assert.Equal(t, []string{"/opt/own"}, unknown)

	t.Setenv("PATH", t.TempDir())
	_, unknown = packagesOf(t.Context(), []string{"/bin/dash"})
	assert.Equal(t, []string{"/bin/dash"}, unknown, "no Debian, no packages")
}

// A package's text has to be there, or the image must not be passed on.
func TestAPackageWithoutItsLicence(t *testing.T) {
	dpkg(t, "no-such-package: /bin/sh")
	p := like(t)
	_, err := Make(t.Context(), Options{PostgreSQL: p, Agent: "./testdata/agent", Output: filepath.Join(t.TempDir(), "image.tar")})
	require.ErrorContains(t, err, "collecting the licences: stat /usr/share/doc/no-such-package/copyright: no such file")
}

func TestTheLicencesOfTheModulesInTheAgent(t *testing.T) {
	all := files{}
	modules, err := addModuleLicences(t.Context(), all, "../internal/testpostgres")
	require.NoError(t, err)
	assert.Greater(t, modules, 3)
	assert.Contains(t, all, licencesPath+"/go/github.com/stretchr/testify/LICENSE")
	assert.Contains(t, all, licencesPath+"/go/github.com/google/go-containerregistry/LICENSE")

	_, err = addModuleLicences(t.Context(), all, "./no/such/package")
	require.ErrorContains(t, err, "go list: exit status 1: stat ")
}

// README.txt says which text is whose.
func TestEachTextIsNamed(t *testing.T) {
	readme, err := licences.ReadFile("licences/README.txt")
	require.NoError(t, err)
	var named []string
	for _, match := range regexp.MustCompile(`(?m)^    (\S+\.txt) `).FindAllStringSubmatch(string(readme), -1) {
		named = append(named, match[1])
	}
	entries, err := licences.ReadDir("licences")
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Name() != "README.txt" {
			assert.Contains(t, named, entry.Name())
		}
	}
	for _, name := range named {
		text, err := licences.ReadFile("licences/" + name)
		require.NoError(t, err)
		assert.Greater(t, strings.Count(string(text), "\n"), 10)
	}
}

func TestAnImageWithoutAllLicencesIsNotForOthers(t *testing.T) {
	var out strings.Builder
	Licences{Packages: []string{"libc6"}, Modules: 7, Unknown: []string{"/opt/lib.so", "/bin/sh"}}.print(&out)
	assert.Equal(t, `  with the licences of PostgreSQL, 7 Go modules and 1 packages of this machine
  keep it to yourself: whose licence 2 files of this machine have is not known, such as /opt/lib.so
`, out.String())
}
