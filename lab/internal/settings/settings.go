// Package settings holds what the lab chooses once and then remembers: its
// ports and the addresses of its pods. Two labs on one machine choose
// differently, and one lab keeps its kubeconfig valid from one start to the next.
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
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
	data, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading %s (to start afresh: lab reset): %w", file, err)
	}
	return s, nil
}

// Save replaces the file in one step, so that a reader never sees half of it.
func (s Settings) Save(file string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	tmp := file + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, file)
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
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return s, nil, err
	}
	return s, moved, s.Save(file)
}
