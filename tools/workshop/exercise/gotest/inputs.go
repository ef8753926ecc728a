package gotest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Inputs returns two hashes of what the tests read outside of their module, above all the
// lab: "TEST LAB". The go command does not see those files; but it sees that a test reads the
// variable TEST_INPUTS or LAB_INPUTS, and runs it again when that has changed.
func (m Module) Inputs(ctx context.Context) (string, error) {
	top, found := m.inputsScript()
	if !found {
		return "", nil
	}
	folder, err := filepath.Rel(top, m.Dir)
	if err != nil {
		return "", fmt.Errorf("finding the module in its repository: %w", err)
	}
	hashes, err := m.run(ctx, top, "sh", "tools/scripts/inputs.sh", folder)
	return strings.TrimSpace(hashes), err
}

// inputsScript finds the top of the repository that the module lies in.
func (m Module) inputsScript() (top string, found bool) {
	for top := m.Dir; top != filepath.Dir(top); top = filepath.Dir(top) {
		if _, err := os.Stat(filepath.Join(top, "tools", "scripts", "inputs.sh")); err == nil {
			return top, true
		}
	}
	return "", false
}
