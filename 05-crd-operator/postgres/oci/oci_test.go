package oci_test

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

// hello is an image with a file of each kind, whose program is a file of this machine.
func hello(t *testing.T) oci.Image {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("program"), 0o700))
	return oci.Image{
		Platform: "linux/arm64",
		Created:  time.Unix(1700000000, 0).UTC(),
		Config:   v1.Config{Entrypoint: []string{"/hello"}, User: "26:26"},
		Layers: []oci.Layer{{Uncompressed: true, CreatedBy: "a test", Files: map[string]oci.File{
			"/tmp": {Mode: fs.ModeDir | fs.ModeSticky | 0o777},
			"/var": {Mode: fs.ModeDir | 0o700, User: 26},
			"/etc": {Text: "text", Mode: 0o644},
			"/bin": {Link: "hello", Mode: 0o777},
		}}, {CreatedBy: "a test", Files: map[string]oci.File{"/hello": {Source: program, Mode: 0o555}}}},
	}
}

// write writes images to an archive, and returns its path.
func write(t *testing.T, name string, images ...oci.Image) (path string, digest v1.Hash, err error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "deep", "archive.tar")
	archive, err := oci.Create(path)
	require.NoError(t, err)
	digest, size, err := archive.Write(name, images...)
	require.NoError(t, archive.Close())
	if err == nil {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, info.Size(), size)
	}
	left, globErr := filepath.Glob(filepath.Dir(path) + "/.*")
	require.NoError(t, globErr)
	assert.Empty(t, left, "temporary files")
	return path, digest, err
}

// entries are what's in a tar file.
func entries(t *testing.T, from io.Reader) (headers []*tar.Header, contents []string) {
	t.Helper()
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		headers, contents = append(headers, header), append(contents, string(content))
	}
}

func TestTheSameFilesGiveTheSameArchive(t *testing.T) {
	one, digest, err := write(t, "hello:v1", hello(t))
	require.NoError(t, err)
	other, again, err := write(t, "hello:v1", hello(t)) // from another folder, and later
	require.NoError(t, err)
	assert.Equal(t, digest, again)
	first, err := os.ReadFile(one)
	require.NoError(t, err)
	second, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Equal(t, string(first), string(second))

	headers, _ := entries(t, strings.NewReader(string(first)))
	names := map[string]bool{}
	for _, header := range headers {
		names[header.Name] = true
		assert.EqualValues(t, 0o644, header.Mode)
		assert.Zero(t, header.ModTime.Unix())
		assert.Equal(t, [2]int{0, 0}, [2]int{header.Uid, header.Gid})
		assert.Empty(t, header.Uname+header.Gname)
	}
	assert.Contains(t, names, "oci-layout")
	assert.Contains(t, names, "blobs/sha256/"+digest.Hex)
}

func TestTheImageIsWhatWasAskedFor(t *testing.T) {
	path, digest, err := write(t, "hello:v1", hello(t))
	require.NoError(t, err)
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	folder := t.TempDir()
	headers, contents := entries(t, file)
	for i, header := range headers {
		place := filepath.Join(folder, header.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o700))
		require.NoError(t, os.WriteFile(place, []byte(contents[i]), 0o600))
	}
	index, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index, validate.Fast)) // it unpacks layers that are compressed only
	list, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, list.Manifests, 1)
	assert.Equal(t, digest, list.Manifests[0].Digest)
	assert.Equal(t, map[string]string{
		"io.containerd.image.name": "docker.io/library/hello:v1", "org.opencontainers.image.ref.name": "v1",
	}, list.Manifests[0].Annotations)

	image, err := index.Image(digest)
	require.NoError(t, err)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	want := hello(t)
	assert.Equal(t, want.Platform, config.Platform().String())
	assert.Equal(t, want.Created, config.Created.Time)
	assert.Equal(t, want.Config, config.Config)
	assert.Len(t, config.History, 2)
	manifest, err := image.Manifest()
	require.NoError(t, err)
	assert.Equal(t, []types.MediaType{types.OCIConfigJSON, types.OCIUncompressedLayer, types.OCILayer},
		[]types.MediaType{manifest.Config.MediaType, manifest.Layers[0].MediaType, manifest.Layers[1].MediaType})

	layers, err := image.Layers()
	require.NoError(t, err)
	var got []string
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		require.NoError(t, err)
		headers, contents := entries(t, content)
		for i, h := range headers {
			assert.True(t, want.Created.Equal(h.ModTime), h.ModTime)
			assert.Equal(t, h.Uid, h.Gid)
			got = append(got, strings.TrimSpace(h.FileInfo().Mode().String()+" "+h.Name+" "+h.Linkname+contents[i]))
			assert.Equal(t, map[bool]int{true: 26}[h.Name == "var"], h.Uid, h.Name)
		}
	}
	assert.Equal(t, []string{"Lrwxrwxrwx bin hello", "-rw-r--r-- etc text", "dtrwxrwxrwx tmp", "drwx------ var", "-r-xr-xr-x hello program"}, got)
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	moon, missing := hello(t), hello(t)
	moon.Platform = "a/b/c/d"
	missing.Layers[0].Files["/x"] = oci.File{Source: "/no/such/file"}
	for sentence, tc := range map[string]struct {
		name  string
		image oci.Image
		want  string
	}{
		"a platform that cannot be":    {"hello:v1", moon, "making the image for a/b/c/d: "},
		"a file that isn't there":      {"hello:v1", missing, "making the image for linux/arm64: packing /x: open /no/such/file: no such file or directory"},
		"a name that nodes don't read": {"HELLO", hello(t), "must be lowercase"},
	} {
		t.Run(sentence, func(t *testing.T) {
			path, _, err := write(t, tc.name, tc.image)
			require.ErrorContains(t, err, tc.want)
			assert.NoFileExists(t, path)
		})
	}

	taken := t.TempDir()
	_, err := oci.Create(taken)
	require.EqualError(t, err, taken+" is a folder; name the archive in it")
	_, err = oci.Create("oci_test.go/archive.tar")
	require.EqualError(t, err, "making the folder of the archive: mkdir oci_test.go: not a directory; choose another for it")

	archive, err := oci.Create(filepath.Join(taken, "archive.tar"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(taken, "archive.tar"), 0o700)) // somebody is quicker
	_, _, err = archive.Write("hello:v1", hello(t))
	require.ErrorContains(t, err, "rename ")
	require.NoError(t, archive.Close())
	left, err := filepath.Glob(taken + "/*/*") // and what begins with a dot
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestWhereModulesComeFromStaysAsItIsSet(t *testing.T) {
	t.Setenv("GOPROXY", "https://modules.example.com")
	t.Setenv("GOMODCACHE", "/modules")
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("HTTPS_PROXY", "https://proxy.example.com")
	got, err := oci.Environment(t.Context(), "darwin/arm64")
	require.NoError(t, err)
	assert.Subset(t, got, []string{
		"GOPROXY=https://modules.example.com", "GOMODCACHE=/modules", "HTTPS_PROXY=https://proxy.example.com",
		"GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0", "GOENV=off", "GOWORK=off",
	})
	assert.NotContains(t, got, "GOFLAGS=-tags=other")
}

func TestASettingThatGoRefuses(t *testing.T) {
	t.Setenv("GOEXPERIMENT", "moon")
	_, err := oci.Environment(t.Context(), "linux/amd64")
	require.EqualError(t, err, "go env: exit status 2: go: unknown GOEXPERIMENT moon")
}
