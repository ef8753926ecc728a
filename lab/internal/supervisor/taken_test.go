package supervisor

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPortThatIsTaken(t *testing.T) {
	thief, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer thief.Close()
	port := thief.Addr().(*net.TCPAddr).Port

	assert.Empty(t, takenPort(nil))
	got := takenPort([]int{port})
	assert.Contains(t, got, fmt.Sprintf("its port %d is taken by ", port))
	assert.Contains(t, got, "(to choose other ports: lab down, then lab up)")
	if runtime.GOOS == "linux" {
		assert.Contains(t, got, fmt.Sprintf("(pid %d)", os.Getpid()))
	}
}
