package kubeversion

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinkerFlagsTellKubernetesItsVersion(t *testing.T) {
	flags := LinkerFlags("v1.37.2")

	assert.Contains(t, flags, "-X k8s.io/component-base/version.gitVersion=v1.37.2")
	assert.Contains(t, flags, "-X k8s.io/component-base/version.gitMajor=1")
	assert.Contains(t, flags, "-X k8s.io/client-go/pkg/version.gitMinor=37")
}

func TestTheVersionIsThatOfTheModule(t *testing.T) {
	version, err := Required(t.Context())
	require.NoError(t, err)
	assert.Regexp(t, `^v1\.\d+\.\d+`, version)
}
