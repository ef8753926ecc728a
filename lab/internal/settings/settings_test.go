package settings

import (
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/testenv"
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

func TestSettingsAreChosenAnewIfTheFile(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "settings.json")
			_, _, err := Ensure(file, choose)
			require.NoError(t, err)
			testenv.Damage(t, file, damage)
			_, err = Load(file)
			require.ErrorContains(t, err, "(to choose them anew: lab down, then lab up)")

			chosen, sentences, err := Ensure(file, choose)
			require.NoError(t, err)
			require.Len(t, sentences, 1)
			assert.Contains(t, sentences[0], file+" is empty, cut off or overwritten; it is now settings.json.broken: ")
			assert.FileExists(t, file+".broken")
			assert.Len(t, chosen.Ports, len(PortNames))
			loaded, err := Load(file)
			require.NoError(t, err)
			assert.Equal(t, chosen, loaded)
		})
	}
}

func TestSettingsOnAFullDiskStayAsTheyWere(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		file := filepath.Join(t.TempDir(), "settings.json")
		before, _, err := Ensure(file, choose)
		require.NoError(t, err)
		fill()
		_, _, err = Ensure(file, choose)
		require.ErrorContains(t, err, file)
		require.ErrorContains(t, err, "is full")
		after, err := Load(file)
		require.NoError(t, err)
		assert.Equal(t, before, after)
	})
}

func TestStaticPodsAreRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	require.Error(t, SetStaticPods(file, true), "there is no lab yet")
	before, _, err := Ensure(file, choose)
	require.NoError(t, err)
	require.NoError(t, SetStaticPods(file, true))
	after, _, err := Ensure(file, choose)
	require.NoError(t, err)
	assert.True(t, after.StaticPods)
	after.StaticPods = false
	assert.Equal(t, before, after, "nothing else has changed")
}
