package settings

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"

	"example.com/hacking-a-controller/lab/internal/claim"
)

// The ports of a lab, all on 127.0.0.1.
const (
	Etcd              = "etcd"
	EtcdPeer          = "etcd-peer"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
	KubeletHealth     = "kubelet-health"
	FaultProxy        = "fault-proxy"
)

// PortNames lists every port that a lab needs.
var PortNames = []string{Etcd, EtcdPeer, APIServer, ControllerManager, Scheduler, Kubelet, KubeletHealth, FaultProxy}

// Ports are chosen below the ranges that Linux (from 32768) and macOS (from
// 49152) give to outgoing connections: a port from there may be in use by some
// connection just when a component restarts.
const lowestPort, highestPort = 20000, 29999

// Address returns 127.0.0.1:PORT for the named port.
func (s Settings) Address(name string) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Ports[name]))
}

// ensurePorts keeps the ports that are still free and chooses new ones for the
// rest. A port is free when nobody listens there and no other lab has claimed it.
func (s *Settings) ensurePorts(claims *claim.Claims) (moved []string, err error) {
	ports := map[string]int{}
	// What this lab has claimed, it can claim again: two components must not get one port.
	isOurs := func(port int) bool { return slices.Contains(slices.Collect(maps.Values(ports)), port) }
	for _, name := range PortNames {
		old := s.Ports[name]
		if isOurs(old) {
			continue
		}
		free, err := takePort(claims, old)
		if err != nil {
			return nil, err
		}
		if free {
			ports[name] = old
		}
	}
	for _, name := range PortNames {
		if ports[name] != 0 {
			continue
		}
		if ports[name], err = chooseAnywhere(claims, isOurs); err != nil {
			return nil, err
		}
		if old := s.Ports[name]; old != 0 {
			moved = append(moved, fmt.Sprintf("port %d is taken by another program: %s moves to %d", old, name, ports[name]))
		}
	}
	s.Ports = ports
	return moved, nil
}

// takePort claims a port where nobody listens.
func takePort(claims *claim.Claims, port int) (bool, error) {
	if port == 0 {
		return false, nil // none was chosen yet
	}
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false, nil // whatever it is, a component could not listen either
	}
	defer l.Close()
	return claims.Port(port)
}

// chooseAnywhere begins at random: who begins where others do meets what they have claimed.
func chooseAnywhere(claims *claim.Claims, isOurs func(port int) bool) (int, error) {
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if isOurs(port) {
			continue
		}
		if free, err := takePort(claims, port); free || err != nil {
			return port, err
		}
	}
	return 0, fmt.Errorf("no port between %d and %d on 127.0.0.1 is free", lowestPort, highestPort)
}

// The node ports of a lab are a part of the range that is Kubernetes' default.
const (
	lowestNodePort = 30000
	nodePortRanges = 27
	nodePortsEach  = 100
)

// ensureNodePorts keeps the range of node ports, unless another lab has it.
func (s *Settings) ensureNodePorts(claims *claim.Claims) (moved []string, err error) {
	old := s.NodePorts
	if old != "" {
		if ours, err := claims.NodePorts(old); ours || err != nil {
			return nil, err
		}
	}
	for _, i := range rand.Perm(nodePortRanges) {
		first := lowestNodePort + i*nodePortsEach
		ports := fmt.Sprintf("%d-%d", first, first+nodePortsEach-1)
		ours, err := claims.NodePorts(ports)
		if err != nil {
			return nil, err
		}
		if !ours {
			continue
		}
		s.NodePorts = ports
		if old != "" {
			moved = []string{fmt.Sprintf("the node ports %s are another lab's: new Services get theirs from %s, and one that has an old one can lose it to the other lab", old, ports)}
		}
		return moved, nil
	}
	return nil, fmt.Errorf("%d labs run on this machine, and have all node ports (stop one)", nodePortRanges)
}
