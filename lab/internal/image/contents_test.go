package image

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/filelock"
)

var elsewhere = v1.Platform{OS: "plan9", Architecture: "mips"}

// An archive may have any number of images and names. All that runs here is loaded, or it is said
// what is not.
func TestWhatOfAnArchiveIsLoaded(t *testing.T) {
	image, second := build(t, here, hello("hi")), build(t, here, hello("second"))
	foreign := build(t, elsewhere, hello("no"))
	name := func(image v1.Image, name string) mutate.IndexAddendum {
		return addendum(image, nil, map[string]string{nameAnnotation: name})
	}
	about := addendum(build(t, v1.Platform{OS: "unknown", Architecture: "unknown"}), &v1.Platform{OS: "unknown", Architecture: "unknown"}, map[string]string{aboutAnnotation: "attestation-manifest"})
	list := addendum(mutate.AppendManifests(empty.Index, addendum(image, &here, nil), about), nil, map[string]string{nameAnnotation: "foo:v1"})
	for title, tc := range map[string]struct {
		archive        string
		names, leftOut []string
	}{
		"one image under two names":         {oci(t, name(image, "foo:v1"), name(image, "foo:v2")), []string{"foo:v1", "foo:v2"}, nil},
		"one image under two names, docker": {docker(t, image, "foo:v1", "bar:v1"), []string{"foo:v1", "bar:v1"}, nil},
		"two images":                        {oci(t, name(image, "foo:v1"), name(second, "bar:v1")), []string{"foo:v1", "bar:v1"}, nil},
		"two images, docker":                {dockerOf(t, part{image, []string{"foo:v1"}, []storing{plain}}, part{second, []string{"bar:v1"}, []storing{plain}}), []string{"foo:v1", "bar:v1"}, nil},
		"one name for two platforms":        {oci(t, name(foreign, "foo:v1"), name(image, "foo:v1")), []string{"foo:v1"}, nil},
		"an attestation beside the image":   {oci(t, list), []string{"foo:v1"}, nil},
		"a name for another platform": {oci(t, name(image, "foo:v1"), name(foreign, "bar:v1")), []string{"foo:v1"},
			[]string{"bar:v1 is left out: it is for plan9/mips, but this machine is " + machine}},
		"one name for two images": {oci(t, name(image, "foo:v1"), name(second, "foo:v1")), []string{"foo:v1"},
			[]string{"an image is left out: the archive has two images that are called foo:v1 (the first one is loaded)"}},
		"an image without a name": {oci(t, name(image, "foo:v1"), addendum(second, nil, nil)), []string{"foo:v1"},
			[]string{"an image is left out: " + errNoName.Error()}},
	} {
		t.Run(title, func(t *testing.T) {
			s := newStore(t)
			loaded, err := s.Load(t.Context(), tc.archive)
			require.NoError(t, err)
			assert.ElementsMatch(t, tc.names, loaded.Names)
			assert.Equal(t, tc.leftOut, loaded.LeftOut)
			for _, name := range tc.names {
				found, err := s.Find(name)
				require.NoError(t, err)
				assert.NotEmpty(t, content(t, found, "hello"))
			}
			foo, err := s.Find("foo:v1")
			require.NoError(t, err)
			assert.Equal(t, "hi", content(t, foo, "hello"))
		})
	}
}

func TestHowAnArchiveMayBeCompressed(t *testing.T) {
	image, err := mutate.AppendLayers(build(t, here, hello("hi")), layerOf(t, tarOf(t, file{content: "top"}.named("top"))))
	require.NoError(t, err)
	for title, archive := range map[string]string{
		"no layer":            rawDocker(t, image, []string{"foo:v1"}, plain, plain),
		"all layers":          rawDocker(t, image, []string{"foo:v1"}, gzipIt, gzipIt),
		"the first layer":     rawDocker(t, image, []string{"foo:v1"}, gzipIt, plain),
		"the second layer":    rawDocker(t, image, []string{"foo:v1"}, plain, gzipIt),
		"a layer by zstd":     rawDocker(t, image, []string{"foo:v1"}, plain, zstdIt),
		"the archive":         writeFile(t, gzipIt(t, readFile(t, docker(t, image, "foo:v1")))),
		"the archive by zstd": writeFile(t, zstdIt(t, readFile(t, docker(t, image, "foo:v1")))),
	} {
		t.Run(title, func(t *testing.T) {
			s := newStore(t)
			_, err := s.Load(t.Context(), archive)
			require.NoError(t, err)
			found, err := s.Find("foo:v1")
			require.NoError(t, err)
			assert.Equal(t, "hi", content(t, found, "hello"))
			assert.Equal(t, "top", content(t, found, "top"))
		})
	}
}

// Nothing of an archive is loaded if one of its images is damaged.
func TestAnArchiveIsLoadedWholeOrNotAtAll(t *testing.T) {
	s := newStore(t)
	good, bad := build(t, here, hello("good")), build(t, here, hello("bad"))
	_, err := s.Load(t.Context(), dockerOf(t, part{good, []string{"good:v1"}, []storing{plain}}, part{bad, []string{"bad:v1"}, []storing{damaged}}))
	require.ErrorContains(t, err, "it is damaged")
	_, err = s.Find("good:v1")
	require.ErrorContains(t, err, "is not in the lab")
}

func TestLoadingEndsWhenItsTimeDoes(t *testing.T) {
	s := newStore(t)
	archive := docker(t, build(t, here, hello("hi")), "foo:v1")
	_, err := s.Load(t.Context(), archive)
	require.NoError(t, err)
	held, err := filelock.Lock(t.Context(), filepath.Join(s.dir, "lock"))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = s.Load(ctx, archive)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "another command is at work on the images")
	require.NoError(t, held.Close())
	_, err = open(ctx, archive, filepath.Join(t.TempDir(), "scratch"), s.quota())
	require.ErrorIs(t, err, context.DeadlineExceeded, "while it reads")
}
