// Package settings holds what the lab chooses once and then remembers: its
// ports and the addresses of its pods. Two labs on one machine choose
// differently (see package claim), and one lab keeps its kubeconfig valid from one start to
// the next.
package settings

import (
	"fmt"
	"net/netip"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/claim"
	"example.com/hacking-a-controller/lab/internal/jsonfile"
)

// Settings of one lab.
type Settings struct {
	// Ports by name, see PortNames.
	Ports map[string]int `json:"ports"`
	// PodCIDR is the range that pods get their addresses from.
	PodCIDR netip.Prefix `json:"podCIDR"`
	// NodePorts is the range that Services of type NodePort get their ports from: FIRST-LAST.
	NodePorts string `json:"nodePorts"`
	// StaticPods leaves the scheduler and the controller manager to the kubelet, see package
	// staticpod.
	StaticPods bool `json:"staticPods,omitempty"`
}

// Load reads the settings. The error is fs.ErrNotExist when the lab was never
// started.
func Load(file string) (Settings, error) {
	var s Settings
	if err := jsonfile.Read(file, &s); err != nil {
		return Settings{}, fmt.Errorf("loading the lab's settings (to choose new ones: lab down, then lab up): %w", err)
	}
	return s, nil
}

// Ensure loads the settings, fills in what is missing, replaces what another lab has claimed
// or another program has taken since, claims all of it, and saves the result. It returns a
// sentence for each that had to move, and for a file that was broken. Call it only while the
// lab is stopped.
func Ensure(file string, claims *claim.Claims, choosePodCIDR func(claim func(netip.Prefix) (bool, error)) (netip.Prefix, error)) (s Settings, sentences []string, err error) {
	s, err = Load(file)
	sentences, err = atomicfile.SetAsideIfBroken(err, "the lab gets new ports, so a copy of its kubeconfig has to be made again, and its pods new addresses")
	if err != nil {
		return s, nil, err
	}
	for _, ensure := range []func() ([]string, error){
		func() ([]string, error) { return s.ensurePorts(claims) },
		func() ([]string, error) { return s.ensureNodePorts(claims) },
		func() ([]string, error) { return s.ensurePodCIDR(claims, choosePodCIDR) },
	} {
		moved, err := ensure()
		if err != nil {
			return s, sentences, err
		}
		sentences = append(sentences, moved...)
	}
	return s, sentences, jsonfile.Write(file, s)
}

// ensurePodCIDR keeps the addresses of pods, unless another lab has them.
func (s *Settings) ensurePodCIDR(claims *claim.Claims, choose func(claim func(netip.Prefix) (bool, error)) (netip.Prefix, error)) (moved []string, err error) {
	old := s.PodCIDR
	if old.IsValid() {
		if old.IsSingleIP() { // all pods of all labs share it
			return nil, nil
		}
		if ours, err := claims.Pods(old); ours || err != nil {
			return nil, err
		}
	}
	if s.PodCIDR, err = choose(claims.Pods); err != nil {
		return nil, fmt.Errorf("choosing addresses for pods: %w", err)
	}
	if old.IsValid() {
		moved = []string{fmt.Sprintf("the pods' addresses %s are another lab's: they move to %s", old, s.PodCIDR)}
	}
	return moved, nil
}

// SetStaticPods changes that one setting.
func SetStaticPods(file string, static bool) error {
	s, err := Load(file)
	if err != nil || s.StaticPods == static {
		return err
	}
	s.StaticPods = static
	return jsonfile.Write(file, s)
}
