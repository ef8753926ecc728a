package e2e

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/permissions"
)

// rightsUsed reads the audit log of all that went before. What an administrator
// grants is what the manager needs, and nothing else.
func rightsUsed(t *testing.T, l *lab) {
	logs, err := filepath.Glob(filepath.Join(l.dir, "logs", "audit*.log"))
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	code := permissions.Main(append([]string{"--service-account=" + system + "/" + manager, "--rules=-"}, logs...),
		bytes.NewReader(dist(t, newer, highlyAvailable)), &stdout, &stderr)
	t.Log(stdout.String())
	assert.Zero(t, code, "%s%s", &stdout, &stderr)
}
