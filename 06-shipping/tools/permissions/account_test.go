package permissions

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnAccountIsANamespaceAndAName(t *testing.T) {
	a, err := ParseAccount("cnat-system/cnat-manager")
	require.NoError(t, err)
	assert.Equal(t, Account{"cnat-system", "cnat-manager"}, a)
	assert.Equal(t, "cnat-system/cnat-manager", a.String())
	for _, wrong := range []string{"", "cnat-manager", "/cnat-manager", "cnat-system/", "a/b/c", "system:serviceaccount:a:b", "A/b"} {
		_, err := ParseAccount(wrong)
		assert.ErrorContains(t, err, "write NAMESPACE/NAME", "%q", wrong)
	}
}
