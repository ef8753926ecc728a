// Package testlong knows which tests of whole clusters a short run leaves out.
package testlong

import "testing"

// LeftToWorkflows leaves a test out of a short run (-short), as the gate's is. It takes minutes, so only the
// workflows run it for each change.
func LeftToWorkflows(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes minutes, so the gate leaves it to the workflows")
	}
}
