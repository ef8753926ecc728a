package podnet

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/claim"
)

func prefixes(all ...string) (list []netip.Prefix) {
	for _, p := range all {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

func TestChoose(t *testing.T) {
	private, loopback := netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("127.0.0.0/8")
	for name, tc := range map[string]struct {
		taken                []netip.Prefix
		mayAdd, manyLoopback bool
		within               netip.Prefix
		bits                 int
	}{
		"who may add addresses gets a private range":   {nil, true, true, private, 24},
		"unless a VPN has them all":                    {prefixes("10.0.0.0/8"), true, true, loopback, 24},
		"others on Linux get loopback addresses":       {nil, false, true, loopback, 24},
		"macOS has one address":                        {nil, false, false, netip.MustParsePrefix("127.0.0.1/32"), 32},
		"the only range that is free is the one taken": {prefixes("10.244.0.0/17", "10.244.128.0/18", "10.244.192.0/19", "10.244.224.0/20", "10.244.240.0/21", "10.244.248.0/22", "10.244.252.0/23", "10.244.254.0/24"), true, true, netip.MustParsePrefix("10.244.255.0/24"), 24},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := choose(tc.taken, tc.mayAdd, tc.manyLoopback, func(netip.Prefix) (bool, error) { return true, nil })
			require.NoError(t, err)
			assert.Equal(t, tc.bits, got.Bits())
			assert.True(t, tc.within.Contains(got.Addr()), got)
			assert.NotEqual(t, netip.MustParsePrefix("127.0.0.0/24"), got, "localhost is not for pods")
		})
	}
}

func TestChooseTakesWhatNoOtherLabHas(t *testing.T) {
	only := func(prefix netip.Prefix) func(netip.Prefix) (bool, error) {
		return func(p netip.Prefix) (bool, error) { return p == prefix, nil }
	}
	for _, prefix := range prefixes("10.244.9.0/24", "127.9.0.0/24") {
		got, err := choose(nil, prefix.Addr().IsPrivate(), true, only(prefix))
		require.NoError(t, err)
		assert.Equal(t, prefix, got)
	}
	_, err := choose(nil, false, true, only(netip.Prefix{}))
	require.ErrorContains(t, err, "other labs have all of them")
}

func TestPool(t *testing.T) {
	p := NewPool(netip.MustParsePrefix("10.244.7.0/29"))
	taken := netip.MustParseAddr("10.244.7.3")
	p.Reserve(taken)
	seen := map[netip.Addr]bool{}
	for range 4 { // of 8: not the first two, the last, and the reserved one
		a, err := p.Get()
		require.NoError(t, err)
		assert.False(t, seen[a], a)
		seen[a] = true
	}
	assert.NotContains(t, seen, taken)
	for _, never := range []string{"10.244.7.0", "10.244.7.1", "10.244.7.7"} {
		assert.NotContains(t, seen, netip.MustParseAddr(never))
	}
	_, err := p.Get()
	require.ErrorIs(t, err, ErrNoAddress)
	p.Free(taken)
	a, err := p.Get()
	require.NoError(t, err)
	assert.Equal(t, taken, a)
}

func TestPoolDoesNotReuseAtOnce(t *testing.T) {
	p := NewPool(netip.MustParsePrefix("10.244.7.0/24"))
	a, err := p.Get()
	require.NoError(t, err)
	p.Free(a)
	b, err := p.Get()
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
}

func TestPoolOfOneSharedAddress(t *testing.T) {
	p := NewPool(shared)
	for range 3 {
		a, err := p.Get()
		require.NoError(t, err)
		assert.Equal(t, "127.0.0.1", a.String())
	}
}

func TestPodsListenOnTheirAddresses(t *testing.T) {
	var claims claim.Claims
	t.Cleanup(claims.Release)
	prefix, err := Choose(claims.Pods)
	require.NoError(t, err)
	require.NoError(t, Setup(prefix))
	require.NoError(t, Setup(prefix), "setting up twice is harmless")
	t.Cleanup(func() {
		assert.NoError(t, Teardown(prefix))
		assert.NoError(t, Teardown(prefix), "tearing down twice is harmless")
	})
	pool := NewPool(prefix)
	one, err := pool.Get()
	require.NoError(t, err)
	first, err := net.Listen("tcp", netip.AddrPortFrom(one, 0).String())
	require.NoError(t, err)
	defer first.Close()
	if !manyLoopbackAddresses {
		return
	}
	two, err := pool.Get()
	require.NoError(t, err)
	port := first.Addr().(*net.TCPAddr).AddrPort().Port()
	second, err := net.Listen("tcp", netip.AddrPortFrom(two, port).String())
	require.NoError(t, err, "the same port at another pod's address")
	defer second.Close()

	conn, err := net.Dial("tcp", second.Addr().String())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}
