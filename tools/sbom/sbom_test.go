package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bundle writes an archive of these files, in the folder that make offline-bundle has.
func bundle(t *testing.T, files map[string]string) string {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for name, content := range files {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: "hacking-a-controller/" + name, Size: int64(len(content)), Mode: 0o644}))
		_, err := archive.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipped.Close())
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	require.NoError(t, os.WriteFile(path, buffer.Bytes(), 0o600))
	return path
}

// list runs the command and returns the package URLs of what it lists.
func list(t *testing.T, archive string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{archive, "v1.0.0"}, &stdout, &stderr), stderr.String())
	var written document
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &written))
	assert.Equal(t, component{Type: "application", Ref: "bundle.tar.gz", Name: "bundle.tar.gz", Version: "v1.0.0"}, written.Metadata.Component)
	var urls []string
	for _, component := range written.Components {
		urls = append(urls, component.PURL)
	}
	return urls
}

func TestListsGoAndModules(t *testing.T) {
	assert.Equal(t, []string{
		"pkg:generic/go@1.26.8",
		"pkg:golang/github.com/Azure/go-ansiterm@v0.0.1",
		"pkg:golang/k8s.io/api@v0.36.3",
	}, list(t, bundle(t, map[string]string{
		"go/VERSION": "go1.26.8\ntime 2026-01-01T00:00:00Z\n",
		"modules/cache/download/k8s.io/api/@v/v0.36.3.ziphash":                      "h1:",
		"modules/cache/download/k8s.io/api/@v/v0.36.3.mod":                          "module k8s.io/api",
		"modules/cache/download/k8s.io/kubelet/@v/v0.36.3.mod":                      "a module of which only the go.mod was read",
		"modules/cache/download/github.com/!azure/go-ansiterm/@v/v0.0.1.ziphash":    "h1:",
		"workshop/05-crd-operator/postgres/image/npm.go":                            "const npmVersion = \"18.4.0\"\n",
		"workshop/tools/testdata/modules/cache/download/k8s.io/api/@v/v0.36.3.info": "{}",
	})))
}

func TestListsPostgreSQLIfItIsThere(t *testing.T) {
	assert.Contains(t, list(t, bundle(t, map[string]string{
		"go/VERSION": "go1.26.8\n",
		postgres:     "an image",
		npmSource:    "package image\n\nconst npmVersion = \"18.4.0\"\n",
	})), "pkg:npm/%40embedded-postgres@18.4.0")
}

func TestRefusals(t *testing.T) {
	empty := bundle(t, map[string]string{"README.md": "# Some other archive\n"})
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"no archive":             {nil, 2, "usage: sbom ARCHIVE VERSION\n"},
		"an archive without Go":  {[]string{empty, "v1"}, 1, "sbom: reading " + empty + ": there is no go/VERSION in it; name an archive of make offline-bundle\n"},
		"a file of another kind": {[]string{text, "v1"}, 1, "sbom: " + text + " is no archive of make offline-bundle: unexpected EOF\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, tc.code, run(tc.args, &stdout, &stderr))
			assert.Equal(t, tc.want, stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}
