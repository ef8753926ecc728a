package settings

import (
	"fmt"
	"net"
	"os"
	"strconv"
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
)

// PortNames lists every port that a lab needs.
var PortNames = []string{Etcd, EtcdPeer, APIServer, ControllerManager, Scheduler, Kubelet, KubeletHealth}

// Ports are chosen below the ranges that Linux (from 32768) and macOS (from
// 49152) give to outgoing connections: a port from there may be in use by some
// connection just when a component restarts.
const lowestPort, highestPort = 20000, 29999

// Address returns 127.0.0.1:PORT for the named port.
func (s Settings) Address(name string) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Ports[name]))
}

// ensurePorts keeps the ports that are still free and chooses new ones for the
// rest. All are held open until the last one is chosen, so no two are equal.
func (s *Settings) ensurePorts() (moved []string, err error) {
	held := map[string]net.Listener{}
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for _, name := range PortNames {
		if l, err := listen(s.Ports[name]); err == nil {
			held[name] = l
		}
	}
	ports := map[string]int{}
	for _, name := range PortNames {
		if held[name] == nil {
			l, err := listenAnywhere()
			if err != nil {
				return nil, err
			}
			held[name] = l
		}
		old := s.Ports[name]
		ports[name] = held[name].Addr().(*net.TCPAddr).Port
		if old != 0 && old != ports[name] {
			moved = append(moved, fmt.Sprintf("port %d is taken by another program: %s moves to %d", old, name, ports[name]))
		}
	}
	s.Ports = ports
	return moved, nil
}

func listen(port int) (net.Listener, error) {
	if port == 0 {
		return nil, fmt.Errorf("no port chosen yet")
	}
	return net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

func listenAnywhere() (net.Listener, error) {
	var err error
	for i := range 200 {
		var l net.Listener
		if l, err = listen(candidate(os.Getpid(), i)); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("finding a free port between %d and %d on 127.0.0.1: %w", lowestPort, highestPort, err)
}

// candidate returns the port that a process tries after i others. Ports that are chosen
// are open again until the components listen, so two labs that start at the same moment
// must not look in the same place: each process id has places of its own.
func candidate(pid, i int) int {
	return lowestPort + (pid*len(PortNames)+i)%(highestPort-lowestPort+1)
}
