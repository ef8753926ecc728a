package image

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

// twoImages loads foo:v1 and bar:v1 and returns foo's archive and record.
func twoImages(t *testing.T, s *Store) (archive, file string) {
	t.Helper()
	archive = docker(t, build(t, here, hello("foo")), "foo:v1")
	for _, a := range []string{archive, docker(t, build(t, here, hello("bar")), "bar:v1")} {
		_, err := s.Load(t.Context(), a)
		require.NoError(t, err)
	}
	foo, err := s.Find("foo:v1")
	require.NoError(t, err)
	return archive, filepath.Join(foo.dir, recordFile)
}

func TestOnlyOneImageIsLostIfItsRecord(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			archive, file := twoImages(t, s)
			testenv.Damage(t, file, damage)
			for range 2 {
				for _, ref := range []string{"busybox:1.36", "pause", "bar:v1"} {
					_, err := s.Find(ref)
					require.NoError(t, err, ref)
				}
				_, err := s.Find("foo:v1")
				require.ErrorContains(t, err, "load others with: lab load IMAGE.tar")
				all, err := s.List()
				require.NoError(t, err)
				assert.Len(t, all, len(builtins)+1)
			}
			assert.FileExists(t, file+".broken")

			_, err := s.Load(t.Context(), archive)
			require.NoError(t, err)
			again, err := s.Find("foo:v1")
			require.NoError(t, err)
			assert.Equal(t, "foo", content(t, again, "hello"))
		})
	}
}

func TestAnImageOnAFullDiskKeepsItsRecord(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		s := newStore(t)
		_, file := twoImages(t, s)
		more := docker(t, build(t, here, hello("more")), "more:v1")
		before, err := s.Find("foo:v1")
		require.NoError(t, err)
		fill()
		err = s.name(before.ID, []string{"another:v1"}, nil)
		require.ErrorContains(t, err, file)
		require.ErrorContains(t, err, "is full")
		_, err = s.Load(t.Context(), more)
		require.Error(t, err)
		unfinished, err := filepath.Glob(filepath.Join(escape(s.dir), "loading-*"))
		require.NoError(t, err)
		assert.Empty(t, unfinished)
		after, err := s.Find("foo:v1")
		require.NoError(t, err)
		assert.Equal(t, before, after)
	})
}
