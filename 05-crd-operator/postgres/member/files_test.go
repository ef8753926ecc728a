package member

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

func TestCopyThatWasNotCompletedIsNoDatabase(t *testing.T) {
	files := layout(t.TempDir())
	require.NoError(t, os.Mkdir(files.partial(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(files.partial(), "PG_VERSION"), []byte("15\n"), 0o600))
	assert.False(t, files.complete())
	require.NoError(t, files.keep())
	assert.True(t, files.complete())
	require.NoError(t, files.wipe())
	assert.False(t, files.complete())

	require.NoError(t, os.Mkdir(files.partial(), 0o700))
	require.NoError(t, os.Mkdir(files.wiped(), 0o700))
	require.NoError(t, files.clean())
	assert.NoDirExists(t, files.partial())
	assert.NoDirExists(t, files.wiped())
}

func TestArchiveStaysInItsFolder(t *testing.T) {
	for name, header := range map[string]tar.Header{
		"a file above":     {Name: "../file", Typeflag: tar.TypeReg},
		"an absolute file": {Name: "/file", Typeflag: tar.TypeReg},
		"a link":           {Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc"},
	} {
		t.Run(name, func(t *testing.T) {
			var content bytes.Buffer
			archive := tar.NewWriter(&content)
			require.NoError(t, archive.WriteHeader(&header))
			require.NoError(t, archive.Close())
			assert.Error(t, unpack(&content, filepath.Join(t.TempDir(), "database")))
		})
	}
}

func TestTablespaceIsRefused(t *testing.T) {
	a := &answer{to: io.Discard}
	for _, message := range []string{"nbase.tar\x00\x00", "dcontent", "p12345678"} {
		_, err := a.Write([]byte(message))
		require.NoError(t, err)
	}
	_, err := a.Write([]byte("n16384.tar\x00/elsewhere\x00"))
	assert.ErrorContains(t, err, "16384.tar")
}

func TestValuesInSettingsFiles(t *testing.T) {
	assert.Equal(t, `'it''s \\here'`, quote(`it's \here`))
	assert.Equal(t, `'it\'s \\here'`, escape(`it's \here`))
}

func TestOlderStatusIsNotSeen(t *testing.T) {
	var terms []int64
	n := &newest{seen: func(s postgres.PostgresClusterStatus) { terms = append(terms, s.Term) }}
	offer := func(version string, term int64) {
		n.offer(&postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}, Status: postgres.PostgresClusterStatus{Term: term}})
	}
	offer("9", 1)
	offer("10", 2)
	offer("9", 1)
	offer("10", 2)
	offer("11", 3)
	assert.Equal(t, []int64{1, 2, 3}, terms)
}
