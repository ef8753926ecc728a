package image

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var here = v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}

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

func TestLoad(t *testing.T) {
	image := build(t, here, hello("hi"))
	named := map[string]string{"io.containerd.image.name": "foo:v1", "org.opencontainers.image.ref.name": "v1"}
	multi := mutate.AppendManifests(empty.Index, addendum(build(t, elsewhere, hello("no")), &elsewhere, nil), addendum(image, &here, nil))
	for name, archive := range map[string]string{
		"a docker archive":                docker(t, image, "foo:v1"),
		"an OCI archive":                  oci(t, addendum(image, nil, named)),
		"an OCI archive of many platform": oci(t, addendum(multi, nil, named)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			for range 2 { // loading twice is harmless
				loaded, err := s.Load(t.Context(), archive)
				require.NoError(t, err)
				require.Len(t, loaded.Names, 1)
				assert.Contains(t, loaded.Names[0], "foo:v1")
				assert.Empty(t, loaded.LeftOut)
			}
			found, err := s.Find("foo:v1")
			require.NoError(t, err)
			config, err := image.ConfigFile()
			require.NoError(t, err)
			assert.Equal(t, config.Config, found.Config)
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
			require.NoError(t, s.Remove(t.Context(), "foo:v1"))
			_, err = s.Find("foo:v1")
			require.EqualError(t, err, `image "foo:v1" is not in the lab: it knows busybox, pause; load others with: lab load IMAGE.tar`)
		})
	}
}

func TestWhatAKilledLoadHasLeftIsDeleted(t *testing.T) {
	s := newStore(t)
	left := filepath.Join(s.dir, "loading-123")
	require.NoError(t, os.MkdirAll(filepath.Join(left, "archive"), 0o700))
	_, err := s.Load(t.Context(), docker(t, build(t, here, hello("hi")), "foo:v1"))
	require.NoError(t, err)
	assert.NoDirExists(t, left)
}

func TestNameMovesToTheNewerImage(t *testing.T) {
	s := newStore(t)
	_, err := s.Load(t.Context(), docker(t, build(t, here, hello("old")), "foo:v1"))
	require.NoError(t, err)
	old, err := s.Find("foo:v1")
	require.NoError(t, err)
	_, err = s.Load(t.Context(), docker(t, build(t, here, hello("new")), "foo:v1"))
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
	ours := OfKubernetes("kube-scheduler")
	for ref, want := range map[string]string{
		"busybox":                      "builtin/busybox",
		"busybox:1.36":                 "builtin/busybox",
		ours:                           "builtin/kube-scheduler",
		"registry.example/" + ours:     "builtin/kube-scheduler",
		"builtin/kube-scheduler":       "builtin/kube-scheduler",
		"registry.example/x/busybox:y": "builtin/busybox",
		"busybox@sha256:" + strings.Repeat("0", 64): "builtin/busybox",
		"registry.example:5000/pause":               "builtin/pause",
		"builtin/busybox":                           "builtin/busybox",
	} {
		found, err := s.Find(ref)
		require.NoError(t, err, ref)
		assert.Equal(t, want, found.ID, ref)
	}
	for _, ref := range []string{"kube-scheduler", "kube-scheduler:v1.0.0", "registry.example/kube-scheduler:mine"} {
		_, err := s.Find(ref)
		require.ErrorContains(t, err, ours, "a part of Kubernetes has the version of the lab: %s", ref)
	}
	_, err := s.Load(t.Context(), docker(t, build(t, here, hello("mine")), "busybox:1.36"))
	require.NoError(t, err)
	found, err := s.Find("busybox:1.36")
	require.NoError(t, err)
	assert.False(t, found.Builtin, "what was loaded comes first")
	found, err = s.Find("busybox:1.37")
	require.NoError(t, err)
	assert.True(t, found.Builtin)
}

func TestFindByDigest(t *testing.T) {
	image := build(t, here, hello("hi"))
	named := map[string]string{"io.containerd.image.name": "docker.io/library/foo:v1"}
	list := mutate.AppendManifests(empty.Index, addendum(build(t, elsewhere, hello("no")), &elsewhere, nil), addendum(image, &here, nil))
	digestOf := func(from interface{ Digest() (v1.Hash, error) }) string {
		digest, err := from.Digest()
		require.NoError(t, err)
		return digest.String()
	}
	s := newStore(t)
	_, err := s.Load(t.Context(), docker(t, image, "foo:v1"))
	require.NoError(t, err)
	found, err := s.Find("foo:v1")
	require.NoError(t, err)
	assert.Equal(t, found.ID, found.Reference(), "a docker archive has no manifest")

	for range 2 { // loading twice is harmless
		_, err = s.Load(t.Context(), oci(t, addendum(list, nil, named)))
		require.NoError(t, err)
	}
	assert.NotEqual(t, digestOf(image), digestOf(list))
	for _, digest := range []string{digestOf(image), digestOf(list)} {
		for _, name := range []string{"foo", "docker.io/library/foo", "127.0.0.1:5000/another/name", "foo:v2"} {
			again, err := s.Find(name + "@" + digest)
			require.NoError(t, err, name)
			assert.Equal(t, found.ID, again.ID)
			assert.Equal(t, "docker.io/library/foo@"+digestOf(image), again.Reference())
			assert.Equal(t, []string{"docker.io/library/foo@" + digestOf(image), "docker.io/library/foo@" + digestOf(list)}, again.RepoDigests())
		}
	}

	wrong := "sha256:" + strings.Repeat("0", 64)
	_, err = s.Find("foo:v1@" + wrong)
	require.EqualError(t, err, `image "foo:v1@`+wrong+`" is not in the lab: it knows busybox, pause, docker.io/library/foo@`+digestOf(image)+
		", docker.io/library/foo@"+digestOf(list)+"; load others with: lab load IMAGE.tar")

	// The name is another image's now, and the digest is still this one's.
	_, err = s.Load(t.Context(), docker(t, build(t, here, hello("newer")), "foo:v1"))
	require.NoError(t, err)
	again, err := s.Find("foo:v1@" + digestOf(image))
	require.NoError(t, err)
	assert.Equal(t, found.ID, again.ID)
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	foreign := build(t, elsewhere)
	whole, err := os.ReadFile(docker(t, build(t, here, hello("hi")), "foo:v1"))
	require.NoError(t, err)
	noImage := "the archive has no image for " + machine + ", which this machine is; it has "
	for name, tc := range map[string]struct{ archive, want string }{
		"no file":          {filepath.Join(dir, "none.tar"), "there is no such file"},
		"a directory":      {dir, "this is not an image archive"},
		"some other file":  {writeFile(t, []byte("hello")), "this is not an image archive"},
		"an empty file":    {writeFile(t, nil), "this is not an image archive"},
		"some other tar":   {writeFile(t, tarOf(t, hello("hi"))), "this is not an image archive"},
		"no name (docker)": {docker(t, build(t, here)), "the archive does not name its image"},
		"no name (OCI)":    {oci(t, addendum(build(t, here), nil, nil)), "the archive does not name its image"},
		"another platform": {docker(t, foreign, "foo:v1"), noImage + "plan9/mips (build or save"},
		"no platform fits": {oci(t, addendum(foreign, &elsewhere, nil)), noImage + "plan9/mips (build or save"},
		"an attestation":   {oci(t, addendum(build(t, v1.Platform{}), nil, map[string]string{nameAnnotation: "foo:v1", aboutAnnotation: "attestation-manifest"})), noImage + "none at all"},
		"a chart":          {oci(t, addendum(mutate.ConfigMediaType(build(t, v1.Platform{}), "application/vnd.cncf.helm.config.v1+json"), nil, map[string]string{nameAnnotation: "foo:v1"})), noImage + "none at all"},
		"a tag, no name":   {oci(t, addendum(build(t, here), nil, map[string]string{refAnnotation: "1.0"})), `the archive names its image by nothing but a tag, "1.0" (save it by its full name: NAME:1.0)`},
		"a dangling image": {rawDocker(t, build(t, here, hello("hi")), []string{"<none>:<none>"}, plain), "the archive does not name its image"},
		"cut off":          {writeFile(t, whole[:512+10]), "the archive is cut off"},
		"a missing layer":  {rawDocker(t, build(t, here, hello("hi")), []string{"foo:v1"}, missing), "the archive lacks a part of its image (save it again, whole): layer 1 of 1: "},
		"a damaged layer":  {rawDocker(t, build(t, here, hello("hi")), []string{"foo:v1"}, damaged), "layer 1 of 1: it is damaged"},
		"compressed by xz": {writeFile(t, []byte("\xfd7zXZ\x00...")), "it is compressed with xz, which the lab cannot read (unpack it first: xz -d)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.Load(t.Context(), tc.archive)
			require.ErrorContains(t, err, "loading "+tc.archive+": "+tc.want)
			assert.NotContains(t, err.Error(), "\n")
			left, err := filepath.Glob(filepath.Join(escape(s.dir), "*-*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}
