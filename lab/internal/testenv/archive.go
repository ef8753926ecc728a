package testenv

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Unpack returns the files of a .tar.gz by their names.
func Unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	files := map[string]string{}
	for r := tar.NewReader(unpacked); ; {
		header, err := r.Next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return files
		}
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		files[header.Name] = string(content)
	}
}
