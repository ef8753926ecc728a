package image

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBuiltinImages(t *testing.T) {
	store := NewStore(t.TempDir())
	ours := OfKubernetes("kube-scheduler")
	for ref, want := range map[string]string{
		"busybox":                      "builtin/busybox",
		"registry.example/busybox:1.0": "builtin/busybox",
		ours:                           "builtin/kube-scheduler",
		"registry.example/" + ours:     "builtin/kube-scheduler",
		"builtin/kube-scheduler":       "builtin/kube-scheduler",
	} {
		image, err := store.Find(ref)
		require.NoError(t, err, ref)
		assert.Equal(t, want, image.ID, ref)
	}
	for _, ref := range []string{"kube-scheduler", "kube-scheduler:v1.0.0", "registry.example/kube-scheduler:mine"} {
		_, err := store.Find(ref)
		assert.ErrorContains(t, err, ours, "a part of Kubernetes has the version of the lab: %s", ref)
	}
}
