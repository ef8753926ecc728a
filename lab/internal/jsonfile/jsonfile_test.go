package jsonfile

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

type value struct{ Names []string }

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "value.json")
	var got value
	require.ErrorIs(t, Read(path, &got), fs.ErrNotExist)
	want := value{[]string{"one", "two"}}
	require.NoError(t, Write(path, want))
	require.NoError(t, Read(path, &got))
	assert.Equal(t, want, got)
}

func TestAFileIsBrokenThat(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "value.json")
			require.NoError(t, Write(path, value{[]string{"one", "two"}}))
			testenv.Damage(t, path, damage)
			var got value
			var broken *atomicfile.BrokenError
			require.ErrorAs(t, Read(path, &got), &broken)
			assert.Equal(t, path, broken.Path)
		})
	}
}
