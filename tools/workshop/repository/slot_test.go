package repository_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

func TestASlotIsForOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copies")
	take := func() repository.Slot {
		s, err := repository.TakeSlot(dir)
		require.NoError(t, err)
		t.Cleanup(s.Free)
		return s
	}
	first, second := take(), take()
	assert.Equal(t, filepath.Join(dir, "slot-1"), first.Dir)
	assert.Equal(t, filepath.Join(dir, "slot-2"), second.Dir)
	first.Free()
	assert.Equal(t, first.Dir, take().Dir, "the free one is taken again")
	_, err := repository.TakeSlot(first.Dir + ".lock")
	require.Error(t, err)
}
