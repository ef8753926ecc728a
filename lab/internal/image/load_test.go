package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var here = v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}

// file is an entry of a layer.
type file struct {
	tar.Header
	content string
}

// tarOf writes a tar file.
func tarOf(t *testing.T, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := f.Header
		h.Size = int64(len(f.content))
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		h.Uid, h.Gid = os.Getuid(), os.Getgid()
		require.NoError(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, f.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// build makes an image of one layer.
func build(t *testing.T, platform v1.Platform, files ...file) v1.Image {
	t.Helper()
	data := tarOf(t, files...)
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	require.NoError(t, err)
	image, err := mutate.AppendLayers(empty.Image, layer)
	require.NoError(t, err)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	config = config.DeepCopy()
	config.OS, config.Architecture = platform.OS, platform.Architecture
	config.Config = v1.Config{Entrypoint: []string{"/app"}, Cmd: []string{"serve"}, Env: []string{"A=b"}, WorkingDir: "/work", User: "1000:2000", StopSignal: "SIGQUIT"}
	image, err = mutate.ConfigFile(image, config)
	require.NoError(t, err)
	return image
}

func hello(content string) file {
	return file{tar.Header{Name: "hello", Typeflag: tar.TypeReg}, content}
}

// docker writes a docker archive.
func docker(t *testing.T, image v1.Image, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "an image.tar")
	if len(names) == 0 { // as `docker save ID` does
		names = []string{"foo@sha256:" + strings.Repeat("0", 64)}
	}
	images := map[name.Reference]v1.Image{}
	for _, n := range names {
		ref, err := name.ParseReference(n)
		require.NoError(t, err)
		images[ref] = image
	}
	require.NoError(t, tarball.MultiRefWriteToFile(path, images))
	return path
}

// oci writes an OCI archive of an index.
func oci(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	dir := t.TempDir()
	_, err := layout.Write(dir, index)
	require.NoError(t, err)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	require.NoError(t, w.AddFS(os.DirFS(dir)))
	require.NoError(t, w.Close())
	return writeFile(t, out.Bytes())
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func newStore(t *testing.T) *Store {
	return NewStore(filepath.Join(t.TempDir(), "images [of a lab]"))
}

// content returns the content of a file of the image, from a container's copy.
func content(t *testing.T, image Image, path string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rootfs")
	require.NoError(t, image.CopyTo(dir))
	data, err := os.ReadFile(filepath.Join(dir, path))
	require.NoError(t, err)
	return string(data)
}

func entry(image v1.Image, platform *v1.Platform, annotations map[string]string) mutate.IndexAddendum {
	return mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform, Annotations: annotations}}
}

func TestLoad(t *testing.T) {
	image := build(t, here, hello("hi"))
	other := v1.Platform{OS: "plan9", Architecture: "mips"}
	named := map[string]string{"io.containerd.image.name": "foo:v1", "org.opencontainers.image.ref.name": "v1"}
	multi := mutate.AppendManifests(empty.Index, entry(build(t, other, hello("no")), &other, nil), entry(image, &here, nil))
	for name, archive := range map[string]string{
		"a docker archive":                docker(t, image, "foo:v1"),
		"a compressed docker archive":     writeFile(t, gzipped(t, docker(t, image, "foo:v1"))),
		"an OCI archive":                  oci(t, mutate.AppendManifests(empty.Index, entry(image, nil, named))),
		"an OCI archive of many platform": oci(t, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: multi, Descriptor: v1.Descriptor{Annotations: named}})),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			for range 2 { // loading twice is harmless
				names, err := s.Load(archive)
				require.NoError(t, err)
				require.Len(t, names, 1)
				assert.Contains(t, names[0], "foo:v1")
			}
			found, err := s.Find("foo:v1")
			require.NoError(t, err)
			assert.Equal(t, Config{[]string{"/app"}, []string{"serve"}, []string{"A=b"}, "/work", "1000:2000", "SIGQUIT"}, found.Config)
			assert.EqualValues(t, 2, found.Size)
			assert.Equal(t, "hi", content(t, found, "hello"))
			uid, username := found.User()
			assert.EqualValues(t, 1000, uid)
			assert.Empty(t, username)
			again, err := s.Find(found.ID)
			require.NoError(t, err)
			assert.Equal(t, found, again)

			all, err := s.List()
			require.NoError(t, err)
			assert.Len(t, all, len(builtins)+1)
			require.NoError(t, s.Remove("foo:v1"))
			_, err = s.Find("foo:v1")
			require.EqualError(t, err, `image "foo:v1" is not in the lab: it knows busybox, pause; load others with: lab load IMAGE.tar`)
		})
	}
}

func gzipped(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestNameMovesToTheNewerImage(t *testing.T) {
	s := newStore(t)
	_, err := s.Load(docker(t, build(t, here, hello("old")), "foo:v1"))
	require.NoError(t, err)
	old, err := s.Find("foo:v1")
	require.NoError(t, err)
	_, err = s.Load(docker(t, build(t, here, hello("new")), "foo:v1"))
	require.NoError(t, err)

	found, err := s.Find("foo:v1")
	require.NoError(t, err)
	assert.Equal(t, "new", content(t, found, "hello"))
	nameless, err := s.Find(old.ID)
	require.NoError(t, err)
	assert.Empty(t, nameless.Names)
}

func TestFind(t *testing.T) {
	s := newStore(t)
	for ref, want := range map[string]string{
		"busybox":                      "builtin/busybox",
		"busybox:1.36":                 "builtin/busybox",
		"registry.example/x/busybox:y": "builtin/busybox",
		"busybox@sha256:" + strings.Repeat("0", 64): "builtin/busybox",
		"registry.example:5000/pause":               "builtin/pause",
		"builtin/busybox":                           "builtin/busybox",
	} {
		found, err := s.Find(ref)
		require.NoError(t, err, ref)
		assert.Equal(t, want, found.ID, ref)
	}
	_, err := s.Load(docker(t, build(t, here, hello("mine")), "busybox:1.36"))
	require.NoError(t, err)
	found, err := s.Find("busybox:1.36")
	require.NoError(t, err)
	assert.False(t, found.Builtin, "what was loaded comes first")
	found, err = s.Find("busybox:1.37")
	require.NoError(t, err)
	assert.True(t, found.Builtin)
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	other := v1.Platform{OS: "plan9", Architecture: "mips"}
	machine := here.OS + "/" + here.Architecture
	foreign := build(t, other)
	for name, tc := range map[string]struct{ archive, want string }{
		"no file":          {filepath.Join(dir, "none.tar"), "there is no such file"},
		"a directory":      {dir, "this is not an image archive"},
		"some other file":  {writeFile(t, []byte("hello")), "this is not an image archive"},
		"an empty file":    {writeFile(t, nil), "this is not an image archive"},
		"some other tar":   {writeFile(t, tarOf(t, hello("hi"))), "this is not an image archive"},
		"no name (docker)": {docker(t, build(t, here)), "the archive does not name its image"},
		"no name (OCI)":    {oci(t, mutate.AppendManifests(empty.Index, entry(build(t, here), nil, nil))), "the archive does not name its image"},
		"another platform": {docker(t, foreign, "foo:v1"), "the image is for plan9/mips, but this machine is " + machine},
		"no platform fits": {oci(t, mutate.AppendManifests(empty.Index, entry(foreign, &other, nil))), "the archive has no image for " + machine + ", which this machine is; it has plan9/mips"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.Load(tc.archive)
			require.ErrorContains(t, err, "loading "+tc.archive+": "+tc.want)
			assert.NotContains(t, err.Error(), "\n")
			left, err := filepath.Glob(filepath.Join(escape(s.dir), "*-*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestExtractStaysInside(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(t.TempDir(), "rootfs")
	require.NoError(t, os.Mkdir(dir, 0o755))
	link := func(name, target string) file {
		return file{tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}, ""}
	}
	regular := func(name string) file { return file{tar.Header{Name: name, Typeflag: tar.TypeReg}, "x"} }
	_, err := extract(bytes.NewReader(tarOf(t,
		regular("../../climb"),
		regular("/absolute"),
		link("abs", outside), regular("abs/file"),
		link("up", "../../../../../../../.."+outside), regular("up/file2"),
		link("replaced", filepath.Join(outside, "target")), regular("replaced"),
		link("usr/bin", "/elsewhere"), regular("usr/bin/tool"),
		file{tar.Header{Name: "device", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}, ""},
		file{tar.Header{Name: "fifo", Typeflag: tar.TypeFifo}, ""},
		file{tar.Header{Name: "sudo", Typeflag: tar.TypeReg, Mode: 0o4755}, "x"},
	)), dir)
	require.NoError(t, err)

	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)
	for _, path := range []string{"climb", "absolute", "replaced", "elsewhere/tool", "sudo", filepath.Join(outside, "file"), filepath.Join(outside, "file2")} {
		assert.FileExists(t, filepath.Join(dir, path))
	}
	assert.NoFileExists(t, filepath.Join(dir, "device"))
	assert.NoFileExists(t, filepath.Join(dir, "fifo"))
	info, err := os.Stat(filepath.Join(dir, "sudo"))
	require.NoError(t, err)
	assert.Zero(t, info.Mode()&fs.ModeSetuid)
}

func TestExtractRefusesHardLinksToTheOutside(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s"), 0o600))
	for _, target := range []string{secret, "../../../../../../../../../../.." + secret} {
		_, err := extract(bytes.NewReader(tarOf(t, file{tar.Header{Name: "link", Typeflag: tar.TypeLink, Linkname: target}, ""})), dir)
		require.Error(t, err)
	}
}

func TestCopy(t *testing.T) {
	s := newStore(t)
	_, err := s.Load(docker(t, build(t, here,
		file{tar.Header{Name: "dir", Typeflag: tar.TypeDir, Mode: 0o500}, ""},
		file{tar.Header{Name: "dir/private", Typeflag: tar.TypeReg, Mode: 0o600}, "p"},
		file{tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/dir/private"}, ""},
		file{tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "dir/private"}, ""},
	), "foo"))
	require.NoError(t, err)
	image, err := s.Find("foo")
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, image.CopyTo(to))

	target, err := os.Readlink(filepath.Join(to, "link"))
	require.NoError(t, err)
	assert.Equal(t, "/dir/private", target)
	info, err := os.Stat(filepath.Join(to, "dir", "private"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	require.NoError(t, os.WriteFile(filepath.Join(to, "hard"), []byte("changed"), 0o600))
	assert.Equal(t, "p", content(t, image, "hard"), "a container changes its own copy only")
}
