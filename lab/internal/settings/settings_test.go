package settings

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func choose() (netip.Prefix, error) { return netip.MustParsePrefix("127.7.0.0/24"), nil }

func TestWhatIsChosenIsRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	first, moved, err := Ensure(file, choose)
	require.NoError(t, err)
	assert.Empty(t, moved)
	assert.Len(t, first.Ports, len(PortNames))
	different := map[int]bool{}
	for _, port := range first.Ports {
		different[port] = true
		assert.GreaterOrEqual(t, port, lowestPort)
		assert.LessOrEqual(t, port, highestPort)
	}
	assert.Len(t, different, len(PortNames), "two components have the same port")

	second, moved, err := Ensure(file, func() (netip.Prefix, error) { return netip.MustParsePrefix("127.8.0.0/24"), nil })
	require.NoError(t, err)
	assert.Empty(t, moved)
	assert.Equal(t, first, second)
}

func TestLabsThatStartTogetherChooseDifferentPorts(t *testing.T) {
	const pid = 41
	chosen := map[int]bool{}
	for _, process := range []int{pid, pid + 1, pid + 2} {
		for i := range PortNames {
			port := candidate(process, i)
			assert.False(t, chosen[port], "port %d", port)
			chosen[port] = true
			assert.GreaterOrEqual(t, port, lowestPort)
			assert.LessOrEqual(t, port, highestPort)
		}
	}
}

func TestOnlyATakenPortMoves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	before, _, err := Ensure(file, choose)
	require.NoError(t, err)
	thief, err := net.Listen("tcp4", before.Address(Scheduler))
	require.NoError(t, err)
	defer thief.Close()

	after, moved, err := Ensure(file, choose)
	require.NoError(t, err)
	require.Len(t, moved, 1)
	assert.Contains(t, moved[0], strconv.Itoa(before.Ports[Scheduler]))
	for _, name := range PortNames {
		if name == Scheduler {
			assert.NotEqual(t, before.Ports[name], after.Ports[name])
		} else {
			assert.Equal(t, before.Ports[name], after.Ports[name])
		}
	}
}

func TestADamagedFileIsNotOverwritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	_, _, err := Ensure(file, choose)
	require.ErrorContains(t, err, "lab reset")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "{", string(data))
}
