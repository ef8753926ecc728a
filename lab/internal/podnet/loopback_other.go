//go:build !linux

package podnet

import (
	"errors"
	"net/netip"
)

const manyLoopbackAddresses = false

func mayAddAddresses() bool { return false }

func networks() ([]netip.Prefix, error) { return nil, nil }

func addToLoopback(netip.Prefix) error {
	return errors.New("only Linux does this")
}

func removeFromLoopback(netip.Prefix) error { return nil }
