package jsonfile

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

type value struct{ Names []string }

func TestAFileIsBrokenThat(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "value.json")
			want := value{[]string{"one", "two"}}
			require.NoError(t, Write(path, want))
			var got value
			require.NoError(t, Read(path, &got))
			assert.Equal(t, want, got)

			testenv.Damage(t, path, damage)
			var broken *atomicfile.BrokenError
			require.ErrorAs(t, Read(path, &got), &broken)
			assert.Equal(t, path, broken.Path)
		})
	}
}
