package podnet

import (
	"errors"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// manyLoopbackAddresses: all of 127.0.0.0/8 is local.
const manyLoopbackAddresses = true

// mayAddAddresses asks for the capability, not for root: root in a container may
// lack it.
func mayAddAddresses() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_NET_ADMIN) != 0
}

// networks returns what must not be overlapped: the networks of all interfaces
// and the destinations of all routes.
func networks() ([]netip.Prefix, error) {
	var all []netip.Prefix
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		all = appendPrefix(all, a.IPNet)
	}
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, err
	}
	for _, r := range routes {
		all = appendPrefix(all, r.Dst)
	}
	return all, nil
}

// appendPrefix leaves the default route out, which everything overlaps.
func appendPrefix(all []netip.Prefix, n *net.IPNet) []netip.Prefix {
	if n == nil {
		return all
	}
	address, ok := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	if !ok || bits == 0 {
		return all
	}
	return append(all, netip.PrefixFrom(address.Unmap(), bits).Masked())
}

func addToLoopback(prefix netip.Prefix) error {
	lo, address, err := onLoopback(prefix)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(lo, address); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

func removeFromLoopback(prefix netip.Prefix) error {
	lo, address, err := onLoopback(prefix)
	if err != nil {
		return err
	}
	if err := netlink.AddrDel(lo, address); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		return err
	}
	return nil
}

// onLoopback returns the interface and the address that stands for the prefix:
// on a loopback interface, one address with a mask makes all of them local.
func onLoopback(prefix netip.Prefix) (netlink.Link, *netlink.Addr, error) {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return nil, nil, err
	}
	first := prefix.Masked().Addr().Next()
	return lo, &netlink.Addr{IPNet: &net.IPNet{
		IP:   first.AsSlice(),
		Mask: net.CIDRMask(prefix.Bits(), first.BitLen()),
	}}, nil
}
