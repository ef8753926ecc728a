package e2e

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// rightsUsed reads the audit log of all that went before. What an administrator
// grants is what the manager needs, and nothing else.
func rightsUsed(t *testing.T, l *lab) {
	logs, err := filepath.Glob(filepath.Join(l.dir, "logs", "audit*.log"))
	require.NoError(t, err)
	l.tool(bytes.NewReader(dist(t, newer, highlyAvailable)), "permissions",
		append([]string{"--service-account=" + system + "/" + manager, "--rules=-"}, logs...)...)
}
