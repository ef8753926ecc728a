package runtime

import (
	"errors"
	"fmt"
	"net/netip"
)

// All pods share the host's network: what answers at a pod's address may be another
// pod, or a program of the host, that listens on all addresses. So the lab
// finds out who listens before it connects.

var (
	errNoListener      = errors.New("nothing listens there")
	errForeignListener = errors.New("a process that is not the pod's listens there (let each server listen on its $POD_IP)")
)

// CheckProbe returns an error if a probe of this address would reach a process that
// is not of the pod whose address it is. Other addresses are not its business.
func (s *Service) CheckProbe(host string, port int) error {
	s.mu.Lock()
	id := ""
	for _, b := range s.sandboxes {
		if r := b.snapshot(); r.IP.IsValid() && !r.Stopped && r.IP.String() == host {
			id = r.ID
		}
	}
	s.mu.Unlock()
	if id == "" {
		return nil
	}
	if err := s.checkListener(id, host, port); !errors.Is(err, errNoListener) {
		return err
	}
	return nil // the probe itself says that best
}

// checkListener returns an error unless the listener at this address is a process of
// this pod.
func (s *Service) checkListener(sandboxID, host string, port int) error {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return err
	}
	var dirs []string
	for _, c := range s.containersOf(sandboxID) {
		dirs = append(dirs, c.dir)
	}
	if err := checkListener(dirs, netip.AddrPortFrom(address, uint16(port))); err != nil {
		return fmt.Errorf("%s:%d: %w", host, port, err)
	}
	return nil
}
