package member

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// A copy that has failed is waited for without a failure: the agent does not end.
func TestAttemptsToCopyBackOff(t *testing.T) {
	a := &agent{}
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute} {
		a.copies.fail(errNoRoom)
		assert.Equal(t, want, a.copies.pause)
	}
	err := a.do(context.Background(), plan.Clone, postgres.PostgresClusterStatus{})
	require.ErrorIs(t, err, errNotYet)
	assert.EqualError(t, err, errNoRoom.Error(), "in its own words")
}

func TestReceivedLogIsWrittenInSegments(t *testing.T) {
	l := &logStream{folder: t.TempDir(), timeline: 2, at: 0x1_FF00_0000, room: 3 * archive.SegmentSize}
	content := strings.Repeat("log", 7<<20) // more than one segment
	require.NoError(t, l.write(l.at, []byte(content)))
	require.NoError(t, l.closeFile())
	first, err := os.ReadFile(filepath.Join(l.folder, "0000000200000001000000FF"))
	require.NoError(t, err)
	second, err := os.ReadFile(filepath.Join(l.folder, "000000020000000200000000"))
	require.NoError(t, err)
	rest := len(content) - archive.SegmentSize
	assert.Equal(t, sha256.Sum256([]byte(content)), sha256.Sum256(append(first, second[:rest]...)), "all of it")
	assert.Len(t, second, archive.SegmentSize, "PostgreSQL reads whole segments")
	assert.Equal(t, plan.LSN(archive.SegmentEnd("000000020000000200000000"))-archive.SegmentSize+plan.LSN(rest), l.at)

	require.ErrorContains(t, l.write(l.at+1, []byte("log")), "is next")
	assert.ErrorIs(t, l.write(l.at, make([]byte, 2*archive.SegmentSize)), errNoRoom)
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
