package faults

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// A copy beside the manifest is what cp, an editor or patch leaves. To the kubelet it is a manifest
// like any other. The [ in the name of the folder is one that the kubelet would take for a pattern.
func TestACopyBesideAManifestWins(t *testing.T) {
	lab := newLab(t)
	lab.Dir = filepath.Join(filepath.Dir(lab.Dir), "it's a [lab")
	lab.Run(t, "up", "--static-pods")
	status := lab.Run(t, "status")
	assert.Contains(t, status, "\nkube-system/kube-scheduler            kube-scheduler.yaml\n")
	assert.NotContains(t, status, "the kubelet does not run")
	manifest := filepath.Join(lab.Dir, "static-pods", "kube-scheduler.yaml")
	content, err := os.ReadFile(manifest)
	require.NoError(t, err)
	changed := strings.Replace(string(content), "--leader-elect=true", "--leader-elect=true\n    - --v=1", 1)
	require.NoError(t, os.WriteFile(manifest+".bak", []byte(changed), 0o600))
	labtest.Eventually(t, "the copy is what runs", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "logs", "kube-scheduler")
		if err == nil && !strings.Contains(out, `FLAG: --v="1"`) {
			err = errors.New(out)
		}
		return err
	})
	expectHealthy(t, lab)
	assert.Contains(t, lab.Run(t, "status"), "kube-scheduler.yaml, which the kubelet does not run: kube-scheduler.yaml.bak has the same pod")
	assert.Contains(t, lab.Run(t, "up", "--static-pods"), "warning: the kubelet does not run "+manifest)

	assert.Equal(t, 2, strings.Count(lab.Run(t, "up", "--static-pods=false"), "kube-scheduler is no static pod any more"), "the copy would go on")
	expectHealthy(t, lab)
	assert.NotContains(t, lab.Run(t, "status"), "STATIC POD")
}
