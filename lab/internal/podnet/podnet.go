// Package podnet gives each pod an address of its own, so that two pods can
// listen on the same port. Pods are processes of the host and share its network:
// an address is theirs only by their listening on it.
//
// Where the addresses come from depends on what this user may do:
//
//   - Root on Linux gets a /24 of 10.244.0.0/16 on the loopback interface. The
//     kernel then treats the whole range as local, so that no packet for it
//     leaves the machine.
//   - Others on Linux get a part of 127.0.0.0/8, which is local already. The API
//     server refuses such addresses in an EndpointSlice, so a Service of these
//     pods has no endpoints.
//   - On macOS all pods share 127.0.0.1.
package podnet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
)

// shared is the address of all pods where there is only one.
var shared = netip.MustParsePrefix("127.0.0.1/32")

// Choose picks the addresses of a new lab. claim reports whether they are this lab's now, or
// another one's.
func Choose(claim func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
	taken, err := networks()
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("looking at the addresses in use: %w", err)
	}
	return choose(taken, mayAddAddresses(), manyLoopbackAddresses, claim)
}

// choose is Choose for any machine.
func choose(taken []netip.Prefix, mayAdd, manyLoopback bool, claim func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
	if mayAdd {
		for _, n := range rand.Perm(256) {
			candidate := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(n), 0}), 24)
			if overlapsAny(candidate, taken) {
				continue
			}
			if ours, err := claim(candidate); ours || err != nil {
				return candidate, err
			}
		}
		// A VPN owns all of it. What needs no rights always works.
	}
	if manyLoopback {
		for _, n := range rand.Perm(253) {
			candidate := netip.PrefixFrom(netip.AddrFrom4([4]byte{127, byte(2 + n), 0, 0}), 24)
			if ours, err := claim(candidate); ours || err != nil {
				return candidate, err
			}
		}
		return netip.Prefix{}, errors.New("other labs have all of them (stop one of those labs)")
	}
	return shared, nil
}

func overlapsAny(p netip.Prefix, others []netip.Prefix) bool {
	return slices.ContainsFunc(others, p.Overlaps)
}

// ErrNoAddress says that every address is in use.
var ErrNoAddress = errors.New("no address is left for another pod (delete some pods)")

// Pool hands out the addresses of a prefix.
type Pool struct {
	prefix netip.Prefix

	mu   sync.Mutex
	used map[netip.Addr]bool
	last netip.Addr
}

// NewPool returns a pool of which nothing is in use.
func NewPool(prefix netip.Prefix) *Pool {
	prefix = prefix.Masked()
	return &Pool{prefix: prefix, used: map[netip.Addr]bool{}, last: prefix.Addr()}
}

// Get returns a free address. It does not give the same one again before all
// others had their turn, so that a late client of a deleted pod meets nobody.
func (p *Pool) Get() (netip.Addr, error) {
	if p.prefix.IsSingleIP() {
		return p.prefix.Addr(), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	size := 1 << (p.prefix.Addr().BitLen() - p.prefix.Bits())
	for range size {
		p.last = p.last.Next()
		if !p.prefix.Contains(p.last) {
			p.last = p.prefix.Addr()
		}
		if p.usable(p.last) && !p.used[p.last] {
			p.used[p.last] = true
			return p.last, nil
		}
	}
	return netip.Addr{}, ErrNoAddress
}

// usable leaves out the first two addresses, of the network and of the node,
// and the last, which is for broadcasts.
func (p *Pool) usable(a netip.Addr) bool {
	first := p.prefix.Addr()
	return a != first && a != first.Next() && p.prefix.Contains(a.Next())
}

// Contains reports whether an address is one of the pool's.
func (p *Pool) Contains(a netip.Addr) bool { return p.prefix.Contains(a) }

// Reserve marks an address that a pod already has.
func (p *Pool) Reserve(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[a] = true
}

// Free takes an address back.
func (p *Pool) Free(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, a)
}

// Setup makes the addresses of prefix usable. It may be called again.
func Setup(prefix netip.Prefix) error {
	if prefix.Addr().IsLoopback() {
		return nil
	}
	if err := addToLoopback(prefix); err != nil {
		return fmt.Errorf("giving the pods' addresses %s to the loopback interface (run the lab as the user who made it, or start afresh with: lab reset): %w", prefix, err)
	}
	return nil
}

// Teardown undoes Setup. It may be called again.
func Teardown(prefix netip.Prefix) error {
	if !prefix.IsValid() || prefix.Addr().IsLoopback() {
		return nil
	}
	if err := removeFromLoopback(prefix); err != nil {
		return fmt.Errorf("taking the pods' addresses %s off the loopback interface: %w", prefix, err)
	}
	return nil
}
