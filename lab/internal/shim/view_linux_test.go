package shim

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheShimMountsOnlyInNamespacesOfItsOwn(t *testing.T) {
	const host = "mnt:[1] uts:[2]"
	for name, tc := range map[string]struct {
		ours, theirs, want string
	}{
		"both are new":                      {"mnt:[3] uts:[4]", host, ""},
		"both are the host's":               {host, host, "the namespace mnt:[1] is the host's"},
		"the mount namespace is the host's": {"mnt:[1] uts:[4]", host, "the namespace mnt:[1] is the host's"},
		"the UTS namespace is the host's":   {"mnt:[3] uts:[2]", host, "the namespace uts:[2] is the host's"},
		"nobody says what the host's are":   {"mnt:[3] uts:[4]", "", "it is not known"},
		"the host's are not to be known":    {"mnt:[3] uts:[4]", " ", "it is not known"},
		"its own are not to be known":       {" ", host, "it is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			err := requireNew(tc.ours, tc.theirs)
			if tc.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tc.want)
			}
		})
	}
}
