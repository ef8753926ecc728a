package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bomb is a file of zeros, which compresses a thousandfold.
func bomb(size int) file { return hello(strings.Repeat("\x00", size)) }

// What is refused leaves nothing, and has not been on the disk: see the quota of a stream below.
func TestAnArchiveThatUnpacksToMoreThanTheLimit(t *testing.T) {
	large := build(t, here, bomb(3<<20))
	twoLayers, err := mutate.AppendLayers(build(t, here, bomb(1<<20)), layerOf(t, tarOf(t, bomb(1<<20))))
	require.NoError(t, err)
	named := map[string]string{nameAnnotation: "foo:v1"}
	const want = "it unpacks to more than 1536Ki (to allow more: lab load --limit=3Mi)"
	for sentence, archive := range map[string]string{
		"the archive is compressed":       writeFile(t, gzipIt(t, readFile(t, docker(t, large, "foo:v1")))),
		"the archive by zstd":             writeFile(t, zstdIt(t, readFile(t, docker(t, large, "foo:v1")))),
		"a layer is compressed":           rawDocker(t, large, []string{"foo:v1"}, gzipIt),
		"a layer by zstd":                 rawDocker(t, large, []string{"foo:v1"}, zstdIt),
		"a layer of OCI's":                oci(t, addendum(large, nil, named)),
		"several layers together":         rawDocker(t, twoLayers, []string{"foo:v1"}, gzipIt, gzipIt),
		"several images together":         dockerOf(t, part{build(t, here, bomb(1<<20)), []string{"foo:v1"}, []storing{gzipIt}}, part{build(t, here, bomb(1<<20+1)), []string{"bar:v1"}, []storing{gzipIt}}),
		"the first file of the archive":   writeFile(t, tarOf(t, bomb(2<<20))),
		"it is not compressed, but large": docker(t, large, "foo:v1"),
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStore(t)
			s.Limit = 3 << 19
			_, err := s.Load(t.Context(), archive)
			require.ErrorContains(t, err, want)
			assert.NotContains(t, err.Error(), "\n")
			left, err := filepath.Glob(filepath.Join(escape(s.dir), "*-*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
	s := newStore(t)
	s.Limit = 8 << 20
	_, err = s.Load(t.Context(), docker(t, large, "foo:v1"))
	require.NoError(t, err, "with a larger limit")
	s = newStore(t)
	s.Limit = 7 << 19 // a little more than one of it
	_, err = s.Load(t.Context(), oci(t, addendum(large, nil, named), addendum(large, nil, map[string]string{nameAnnotation: "bar:v1"})))
	require.NoError(t, err, "two names are no two images")
}

func TestNothingIsWrittenBeyondTheQuota(t *testing.T) {
	for sentence, tc := range map[string]struct {
		quota quota
		files []file
		want  string
	}{
		"a file that is too long": {quota{bytes: 10, files: 10, tooLarge: "too large"}, []file{bomb(5).named("a"), bomb(6).named("b")}, "too large"},
		"a file too many":         {quota{bytes: 10, files: 1}, []file{bomb(0).named("a"), {Header: tar.Header{Name: "b", Typeflag: tar.TypeDir}}}, "more than 1000000 files"},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			_, err := extract(bytes.NewReader(tarOf(t, tc.files...)), dir, &tc.quota)
			require.ErrorContains(t, err, tc.want)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, left, 1)
		})
	}
}

// endless is a layer of zeros.
type endless struct{ v1.Layer }

func (endless) Uncompressed() (io.ReadCloser, error) { return io.NopCloser(zeros{}), nil }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestALayerIsReadNoFurtherThanTheQuota(t *testing.T) {
	q := &quota{bytes: 1 << 20, files: 1, tooLarge: "too large"}
	require.EqualError(t, checkLayer(t.Context(), endless{}, v1.Hash{}, q), "too large")
}

// A tenth of what is free stays free: etcd and the volumes of pods are on that disk, too.
func TestTheQuotaIsNoMoreThanTheDiskHas(t *testing.T) {
	s := NewStore(t.TempDir())
	s.Limit = 1 << 62
	assert.Less(t, s.quota().bytes, s.Limit)
	assert.Contains(t, s.quota().tooLarge.Error(), "nine tenths of what is free on the disk of "+s.dir)
}

// Descriptions are read into memory. What is called one may be a link to anything, or have no end.
func TestADescriptionThatIsTooLong(t *testing.T) {
	long := strings.Repeat(" ", maxJSON+1)
	index := addendum(build(t, here), nil, map[string]string{nameAnnotation: "foo:v1"})
	for sentence, tc := range map[string]struct{ archive, want string }{
		"of a docker archive":         {writeFile(t, tarOf(t, hello(long).named("manifest.json"))), "manifest.json of the archive is no description of an image"},
		"of an image of docker":       {writeFile(t, tarOf(t, hello(`[{"Config": "c"}]`).named("manifest.json"), hello(long).named("c"))), "c of the archive is no description of an image"},
		"of an OCI archive":           {writeFile(t, tarOf(t, hello(long).named("index.json"))), "index.json of the archive is no description of an image"},
		"of an image":                 {enlarged(t, oci(t, index), digestOf(t, index.Add.(v1.Image).Digest)), "is longer than 16Mi"},
		"the configuration":           {enlarged(t, oci(t, index), digestOf(t, index.Add.(v1.Image).ConfigName)), "is longer than 16Mi"},
		"that is a link to somewhere": {writeFile(t, tarOf(t, file{Header: tar.Header{Name: "index.json", Typeflag: tar.TypeSymlink, Linkname: "/dev/zero"}})), "this is not an image archive"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := newStore(t).Load(t.Context(), tc.archive)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func digestOf(t *testing.T, from func() (v1.Hash, error)) string {
	t.Helper()
	digest, err := from()
	require.NoError(t, err)
	return digest.Hex
}

// enlarged rewrites an archive with blanks at the end of one file.
func enlarged(t *testing.T, archive, name string) string {
	t.Helper()
	var files []file
	for r := tar.NewReader(bytes.NewReader(readFile(t, archive))); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		if filepath.Base(header.Name) == name {
			content = append(content, strings.Repeat(" ", maxJSON)...)
		}
		files = append(files, file{*header, string(content)})
	}
	return writeFile(t, tarOf(t, files...))
}
