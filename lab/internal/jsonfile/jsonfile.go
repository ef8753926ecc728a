// Package jsonfile keeps values in files that a reader never sees half written.
package jsonfile

import (
	"encoding/json"
	"os"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
)

// Write stores a value in a file that only its owner can read, see
// [atomicfile.Write].
func Write(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'))
}

// Read loads a file into value. The error is fs.ErrNotExist if there is none, and an
// [atomicfile.BrokenError] if it holds no such value.
func Read(path string, value any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return &atomicfile.BrokenError{Path: path, Err: err}
	}
	return nil
}
