// Package settings holds what the lab chooses once and then remembers: its
// ports and the addresses of its pods. Two labs on one machine choose
// differently, and one lab keeps its kubeconfig valid from one start to the next.
package settings

import (
	"fmt"
	"net/netip"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/jsonfile"
)

// Settings of one lab.
type Settings struct {
	// Ports by name, see PortNames.
	Ports map[string]int `json:"ports"`
	// PodCIDR is the range that pods get their addresses from.
	PodCIDR netip.Prefix `json:"podCIDR"`
	// StaticPods leaves the scheduler and the controller manager to the kubelet, see package
	// staticpod.
	StaticPods bool `json:"staticPods,omitempty"`
}

// Load reads the settings. The error is fs.ErrNotExist when the lab was never
// started.
func Load(file string) (Settings, error) {
	var s Settings
	if err := jsonfile.Read(file, &s); err != nil {
		return Settings{}, fmt.Errorf("loading the lab's settings (to choose them anew: lab down, then lab up): %w", err)
	}
	return s, nil
}

// Ensure loads the settings, fills in what is missing, replaces every port that
// another program has taken since, and saves the result. It returns a sentence
// for each port that had to move, and for a file that was broken. Call it only
// while the lab is stopped.
func Ensure(file string, choosePodCIDR func() (netip.Prefix, error)) (s Settings, sentences []string, err error) {
	s, err = Load(file)
	sentences, err = atomicfile.SetAsideIfBroken(err, "the lab gets new ports, so a copy of its kubeconfig has to be made again, and its pods new addresses")
	if err != nil {
		return s, nil, err
	}
	moved, err := s.ensurePorts()
	if err != nil {
		return s, sentences, err
	}
	sentences = append(sentences, moved...)
	if !s.PodCIDR.IsValid() {
		if s.PodCIDR, err = choosePodCIDR(); err != nil {
			return s, sentences, fmt.Errorf("choosing addresses for pods: %w", err)
		}
	}
	return s, sentences, jsonfile.Write(file, s)
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
