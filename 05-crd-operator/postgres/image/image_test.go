package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// like is an installation in a folder of its own, whose programs are the shell.
func like(t *testing.T) PostgreSQL {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := PostgreSQL{
		Version: "17.5", Major: 17, Bin: home + "/bin", share: home + "/share/postgresql", lib: home + "/lib/postgresql",
		prefix: home, place: "/usr/local/pgsql",
	}
	shell, err := os.ReadFile("/bin/sh")
	require.NoError(t, err)
	for _, path := range []string{"bin/postgres", "bin/initdb", "bin/psql", "lib/postgresql/plpgsql", "lib/postgresql/llvmjit", "lib/postgresql/jsonb_plperl"} {
		path = filepath.Join(home, path)
		if filepath.Base(filepath.Dir(path)) != "bin" {
			path += moduleSuffix()
		}
		text(t, path, string(shell))
		require.NoError(t, os.Chmod(path, 0o711))
	}
	for _, path := range []string{"postgres.bki", "timezone/UTC", "extension/plpgsql.control", "man/man1/postgres.1", "locale/de/postgres.mo"} {
		text(t, filepath.Join(p.share, path), path)
	}
	require.NoError(t, os.Symlink("/no/such/dictionary", filepath.Join(p.share, "en_us.dict")))
	return p
}

// made is the image in an archive that Make has written, and the entries of its layers.
type made struct {
	content []byte
	image   v1.Image
	entries map[string]*tar.Header
	texts   map[string]string
}

func makeOf(t *testing.T, p PostgreSQL) made {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deep", "image.tar")
	result, err := Make(t.Context(), Options{PostgreSQL: p, Agent: "./testdata/agent", Output: path})
	require.NoError(t, err)
	assert.Equal(t, "postgres-member:17", result.Name)
	m := made{entries: map[string]*tar.Header{}, texts: map[string]string{}}
	m.content, err = os.ReadFile(path)
	require.NoError(t, err)

	folder := t.TempDir()
	read(t, bytes.NewReader(m.content), func(header *tar.Header, content string) { text(t, filepath.Join(folder, header.Name), content) })
	index, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index, validate.Fast)) // it unpacks layers that are compressed only
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	assert.Equal(t, result.Digest, manifest.Manifests[0].Digest)
	assert.True(t, strings.HasSuffix(manifest.Manifests[0].Annotations["io.containerd.image.name"], "/"+result.Name))
	m.image, err = index.Image(result.Digest)
	require.NoError(t, err)
	layers, err := m.image.Layers()
	require.NoError(t, err)
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		require.NoError(t, err)
		read(t, content, func(header *tar.Header, content string) {
			m.entries["/"+header.Name], m.texts["/"+header.Name] = header, content
		})
	}
	return m
}

func read(t *testing.T, from io.Reader, visit func(*tar.Header, string)) {
	t.Helper()
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		visit(header, string(content))
	}
}

func TestTheSameInputGivesTheSameImage(t *testing.T) {
	one, other := like(t), like(t)
	first := makeOf(t, one)
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("GOAMD64", "v3")
	second := makeOf(t, other)
	assert.True(t, bytes.Equal(first.content, second.content), "made at another time, in another folder, with another user's settings of Go")
	assert.False(t, bytes.Contains(first.content, []byte(one.prefix)))

	text(t, filepath.Join(other.share, "postgres.bki"), "changed")
	assert.False(t, bytes.Equal(first.content, makeOf(t, other).content))
}

// As on macOS.
func TestALibraryWithManyNamesIsThereOnce(t *testing.T) {
	p := like(t)
	text(t, filepath.Join(p.prefix, "lib", "libicu.77.1.dylib"), "library")
	require.NoError(t, os.Symlink("libicu.77.1.dylib", filepath.Join(p.prefix, "lib", "libicu.77.dylib")))
	require.NoError(t, os.Symlink("/bin/sh", filepath.Join(p.prefix, "lib", "libfar.dylib")))
	all := files{}
	require.NoError(t, p.addBeside(all))
	links := map[string]string{}
	for path, f := range all {
		links[path] = f.Link
	}
	assert.Equal(t, map[string]string{
		"/usr/local/pgsql/lib/libicu.77.1.dylib": "",
		"/usr/local/pgsql/lib/libicu.77.dylib":   "libicu.77.1.dylib",
		"/usr/local/pgsql/lib/libfar.dylib":      "", // nothing is there in the image
	}, links)
}

func TestWhatIsInTheImage(t *testing.T) {
	p := like(t)
	m := makeOf(t, p)
	for path, want := range map[string]fs.FileMode{
		"/agent":                      0o555,
		"/usr/local/pgsql/bin/initdb": 0o755,
		"/usr/local/pgsql/lib/postgresql/plpgsql" + moduleSuffix():    0o755,
		"/usr/local/pgsql/share/postgresql/postgres.bki":              0o644,
		"/usr/local/pgsql/share/postgresql/timezone/UTC":              0o644,
		"/usr/local/pgsql/share/postgresql/extension/plpgsql.control": 0o644,
		licencesPath + "/README.txt":                                  0o644,
		licencesPath + "/postgresql.txt":                              0o644,
	} {
		if assert.Contains(t, m.entries, path) {
			assert.Equal(t, want, m.entries[path].FileInfo().Mode(), path)
		}
	}
	for path, header := range m.entries {
		for _, unwanted := range []string{"psql", "llvmjit", "plperl", "/man/", "/locale/de", p.prefix} {
			if path != "/usr/local/pgsql" {
				assert.NotContains(t, strings.TrimPrefix(path, "/usr/local/pgsql"), unwanted)
			}
		}
		if path != "/var/lib/postgresql" {
			assert.Zero(t, header.Uid, "PostgreSQL cannot change itself: %s", path)
		}
	}

	config, err := m.image.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, config.Platform().String())
	assert.Equal(t, []string{"/agent"}, config.Config.Entrypoint)
	assert.Equal(t, "26:26", config.Config.User)
	assert.Equal(t, []string{"PATH=/usr/local/pgsql/bin:/usr/bin:/bin"}, config.Config.Env)
}
