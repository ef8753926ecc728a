// Package jsonfile keeps values in files that a reader never sees half written.
package jsonfile

import (
	"encoding/json"
	"fmt"
	"os"
)

// Write stores a value in a file that only its owner can read. It replaces the
// file in one step.
func Write(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Read loads a file into value. The error is fs.ErrNotExist if there is none.
func Read(path string, value any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
