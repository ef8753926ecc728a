package member

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A standby outlives its primary: it waits, however long that takes.
func TestPrimaryThatCannotBeReachedIsNoFailure(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	for name, address := range map[string]string{
		"it has published no address":   "",
		"nobody listens at its address": listener.Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := connectMember(t.Context(), address, "password", "uid")
			assert.ErrorIs(t, err, errUnreachable)
		})
	}
}
