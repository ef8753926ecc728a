package member

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func TestWhatWasSetAsideStays(t *testing.T) {
	files := layout(t.TempDir())
	require.NoError(t, os.Mkdir(files.database(), 0o700))
	for _, name := range []string{"PG_VERSION", standbySignal, "postmaster.pid"} {
		require.NoError(t, os.WriteFile(filepath.Join(files.database(), name), []byte("15\n"), 0o600))
	}
	require.NoError(t, files.setAside(plan.KeptFolder(7)))
	assert.False(t, files.complete())
	require.NoError(t, files.clean())
	folders, err := files.aside()
	require.NoError(t, err)
	assert.Equal(t, []string{"database.diverged-term-7"}, folders)
	entries, err := os.ReadDir(filepath.Join(string(files), folders[0]))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, "PG_VERSION", entries[0].Name(), "no signal of a standby, and no lock")

	s := &space{files: files}
	with, err := s.room(1 << 30)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(files), folders[0], "file"), make([]byte, 1<<20), 0o600))
	without, err := s.room(1 << 30)
	require.NoError(t, err)
	assert.EqualValues(t, 1<<20, with-without, "what it takes of the disk")
}

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

func TestSlotsOfMembers(t *testing.T) {
	status := postgres.PostgresClusterStatus{Primary: "a-db-1", Members: []postgres.MemberStatus{{Name: "a-db-1"}, {Name: "a-db-2"}, {Name: "a-db-7"}}}
	assert.Equal(t, []string{"member_2", "member_7"}, neededSlots(status, "a-db-1"))
	assert.Empty(t, neededSlots(status, "a-db-2"), "a standby needs none")
}

func TestSlotsNeverFillTheDisk(t *testing.T) {
	s := settings{address: ":5432", member: "db-2", capacity: 1 << 30}
	assert.Contains(t, s.file(layout("/data")), "max_slot_wal_keep_size = '131072kB'", "half of the share of the log")
	assert.Contains(t, s.file(layout("/data")), "primary_slot_name = ''")
	s.primary = peer{name: "db-1", address: "10.0.0.1:5432"}
	assert.Contains(t, s.file(layout("/data")), "primary_slot_name = 'member_2'")
}

func TestReceivedLogIsWrittenInSegments(t *testing.T) {
	l := &logStream{folder: t.TempDir(), timeline: 2, at: 0x1_FF00_0000, room: 3 * segmentSize}
	content := strings.Repeat("log", 7<<20) // more than one segment
	require.NoError(t, l.write(l.at, []byte(content)))
	require.NoError(t, l.closeFile())
	first, err := os.ReadFile(filepath.Join(l.folder, "0000000200000001000000FF"))
	require.NoError(t, err)
	second, err := os.ReadFile(filepath.Join(l.folder, "000000020000000200000000"))
	require.NoError(t, err)
	rest := len(content) - segmentSize
	assert.Equal(t, sha256.Sum256([]byte(content)), sha256.Sum256(append(first, second[:rest]...)), "all of it")
	assert.Len(t, second, segmentSize, "PostgreSQL reads whole segments")
	assert.Equal(t, segmentEnd("000000020000000200000000")-segmentSize+plan.LSN(rest), l.at)

	require.ErrorContains(t, l.write(l.at+1, []byte("log")), "is next")
	assert.ErrorIs(t, l.write(l.at, make([]byte, 2*segmentSize)), errNoRoom)
}
