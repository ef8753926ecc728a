package settings

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/claim"
	"example.com/hacking-a-controller/lab/internal/jsonfile"
	"example.com/hacking-a-controller/lab/internal/podnet"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

func choose(claim func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
	prefix := netip.MustParsePrefix("127.7.0.0/24")
	_, err := claim(prefix)
	return prefix, err
}

func TestWhatIsChosenIsRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	first, moved, err := Ensure(file, nil, choose)
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

	second, moved, err := Ensure(file, nil, func(func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
		return netip.MustParsePrefix("127.8.0.0/24"), nil
	})
	require.NoError(t, err)
	assert.Empty(t, moved)
	assert.Equal(t, first, second)
}

// As six labs that start at once.
func TestLabsThatRunHaveNothingInCommon(t *testing.T) {
	seen := map[any]bool{}
	different := func(what any) {
		assert.False(t, seen[what], "two labs have %v", what)
		seen[what] = true
	}
	for range 6 {
		var claims claim.Claims
		defer claims.Release()
		s, moved, err := Ensure(filepath.Join(t.TempDir(), "settings.json"), &claims, podnet.Choose)
		require.NoError(t, err)
		assert.Empty(t, moved)
		for _, port := range s.Ports {
			different(port)
		}
		different(s.NodePorts)
		if !s.PodCIDR.IsSingleIP() {
			different(s.PodCIDR)
		}
	}
}

// Two labs that were chosen for before there were claims, or one after the other.
func TestWhatALabThatRunsHasIsNotTaken(t *testing.T) {
	var claims claim.Claims
	defer claims.Release()
	file := filepath.Join(t.TempDir(), "settings.json")
	running, _, err := Ensure(file, &claims, choose)
	require.NoError(t, err)

	var others claim.Claims
	defer others.Release()
	now, moved, err := Ensure(file, &others, func(claim func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
		prefix := netip.MustParsePrefix("127.8.0.0/24")
		_, err := claim(prefix)
		return prefix, err
	})
	require.NoError(t, err)
	all := strings.Join(moved, "\n")
	for _, name := range PortNames {
		assert.NotEqual(t, running.Ports[name], now.Ports[name])
		assert.Contains(t, all, fmt.Sprintf("port %d is taken by another program: %s moves to %d", running.Ports[name], name, now.Ports[name]))
	}
	assert.NotEqual(t, running.NodePorts, now.NodePorts)
	assert.Contains(t, all, "the node ports "+running.NodePorts+" are another lab's: new Services get theirs from "+now.NodePorts)
	assert.Contains(t, all, "the pods' addresses 127.7.0.0/24 are another lab's: they move to 127.8.0.0/24")
	stored, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, now, stored)
}

// A lab may claim again what it has: its claims do not tell its own components apart.
func TestTwoComponentsNeverGetOnePort(t *testing.T) {
	var claims claim.Claims
	defer claims.Release()
	var refused []int
	port, err := chooseAnywhere(&claims, func(port int) bool {
		refused = append(refused, port)
		return len(refused) < 3
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(refused), 3)
	assert.NotContains(t, refused[:2], port)

	file := filepath.Join(t.TempDir(), "settings.json")
	s, _, err := Ensure(file, &claims, choose)
	require.NoError(t, err)
	s.Ports[Scheduler] = s.Ports[APIServer]
	require.NoError(t, jsonfile.Write(file, s))
	now, moved, err := Ensure(file, &claims, choose)
	require.NoError(t, err)
	assert.Len(t, moved, 1)
	assert.Equal(t, s.Ports[APIServer], now.Ports[APIServer])
	assert.NotEqual(t, s.Ports[APIServer], now.Ports[Scheduler])
}

func TestOnlyATakenPortMoves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	before, _, err := Ensure(file, nil, choose)
	require.NoError(t, err)
	thief, err := net.Listen("tcp4", before.Address(Scheduler))
	require.NoError(t, err)
	defer thief.Close()

	after, moved, err := Ensure(file, nil, choose)
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

func TestNewSettingsAreChosenIfTheFile(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "settings.json")
			_, _, err := Ensure(file, nil, choose)
			require.NoError(t, err)
			testenv.Damage(t, file, damage)
			_, err = Load(file)
			require.ErrorContains(t, err, "(to choose new ones: lab down, then lab up)")

			chosen, sentences, err := Ensure(file, nil, choose)
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
		before, _, err := Ensure(file, nil, choose)
		require.NoError(t, err)
		fill()
		_, _, err = Ensure(file, nil, choose)
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
	before, _, err := Ensure(file, nil, choose)
	require.NoError(t, err)
	require.NoError(t, SetStaticPods(file, true))
	after, _, err := Ensure(file, nil, choose)
	require.NoError(t, err)
	assert.True(t, after.StaticPods)
	after.StaticPods = false
	assert.Equal(t, before, after, "nothing else has changed")
}
