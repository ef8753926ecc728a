package member

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
)

const someHistory = "1\t0/3000000\tno recovery target specified\n"

// newHistories is a disk with these histories.
func newHistories(t *testing.T, contents map[string]string) layout {
	t.Helper()
	l := layout(t.TempDir())
	require.NoError(t, os.MkdirAll(l.log(), 0o700))
	for name, content := range contents {
		require.NoError(t, os.WriteFile(filepath.Join(l.log(), name), []byte(content), 0o600))
	}
	return l
}

func (l layout) contents(t *testing.T) map[string]string {
	t.Helper()
	contents := map[string]string{}
	entries, err := os.ReadDir(l.log())
	require.NoError(t, err)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(l.log(), entry.Name()))
		require.NoError(t, err)
		contents[entry.Name()] = string(content)
	}
	return contents
}

func TestNumbersAreLeftOut(t *testing.T) {
	l := newHistories(t, map[string]string{"00000002.history": someHistory, "0000000A.history": someHistory})
	require.NoError(t, l.leaveOut(8, 0xC))
	assert.Equal(t, map[string]string{
		"00000002.history": someHistory, "00000008.history": archive.Placeholder, "00000009.history": archive.Placeholder,
		"0000000A.history": someHistory, "0000000B.history": archive.Placeholder,
	}, l.contents(t))
	assert.Equal(t, int32(0xB), l.newestTimeline())
}

func TestPlaceholdersAfterTheLastTimelineGo(t *testing.T) {
	l := newHistories(t, map[string]string{
		"00000002.history": archive.Placeholder, "00000003.history": someHistory, "00000004.history": archive.Placeholder,
		"00000005.history": "", "000000020000000000000004": "", // half a placeholder, and no history
	})
	require.NoError(t, l.dropPlaceholders())
	assert.Equal(t, map[string]string{"00000002.history": archive.Placeholder, "00000003.history": someHistory, "000000020000000000000004": ""}, l.contents(t))
	assert.Equal(t, int32(3), l.newestTimeline())
	assert.Zero(t, newHistories(t, nil).newestTimeline(), "a new database")
}
