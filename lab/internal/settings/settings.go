// Package settings holds what the lab chooses once and then remembers: its
// ports and the addresses of its pods. Two labs on one machine choose
// differently, and one lab keeps its kubeconfig valid from one start to the next.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"

	"example.com/hacking-a-controller/lab/internal/jsonfile"
)

// Settings of one lab.
type Settings struct {
	// Ports by name, see PortNames.
	Ports map[string]int `json:"ports"`
	// PodCIDR is the range that pods get their addresses from.
	PodCIDR netip.Prefix `json:"podCIDR"`
}

// Load reads the settings. The error is fs.ErrNotExist when the lab was never
// started.
func Load(file string) (Settings, error) {
	var s Settings
	err := jsonfile.Read(file, &s)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (to start afresh: lab reset)", err)
	}
	return s, err
}

// Ensure loads the settings, fills in what is missing, replaces every port that
// another program has taken since, and saves the result. It returns a sentence
// for each port that had to move. Call it only while the lab is stopped.
func Ensure(file string, choosePodCIDR func() (netip.Prefix, error)) (Settings, []string, error) {
	s, err := Load(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, nil, err
	}
	moved, err := s.ensurePorts()
	if err != nil {
		return s, nil, err
	}
	if !s.PodCIDR.IsValid() {
		if s.PodCIDR, err = choosePodCIDR(); err != nil {
			return s, nil, fmt.Errorf("choosing addresses for pods: %w", err)
		}
	}
	return s, moved, jsonfile.Write(file, s)
}
