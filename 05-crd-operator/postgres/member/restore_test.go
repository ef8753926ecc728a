package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
)

func TestABaseBackupThatCannotBeUnpacked(t *testing.T) {
	from := archive.Folder(t.TempDir())
	tar, err := from.Begin("base")
	require.NoError(t, err)
	_, err = tar.WriteString("tar")
	require.NoError(t, err)
	require.NoError(t, tar.Close())
	_, err = new(server).recover(t.Context(), layout(t.TempDir()), from, "base", "agent", time.Time{})
	require.ErrorContains(t, err, "unpacking a base backup")
}
