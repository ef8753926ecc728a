package runtime

import (
	"errors"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// addressOfPod returns the address of a pod.
func (w *world) addressOfPod(pod string) string {
	return w.sandboxes[pod].record.IP.String()
}

func TestOnlyThePodIsReached(t *testing.T) {
	w := newWorld(t)
	loadHello(w)
	pod, other := w.pod("pod"), w.pod("other")
	host, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer host.Close()
	for name, tc := range map[string]struct {
		port         int32
		atPodAddress bool
	}{
		"not a program of the host":                   {int32(host.Addr().(*net.TCPAddr).Port), false},
		"not another pod on loopback":                 {w.serve(other, "127.0.0.1:0"), false},
		"not another pod that takes all addresses":    {w.serve(other, ":0"), true},
		"not another pod that takes those of IPv4":    {w.serve(other, "0.0.0.0:0"), true},
		"not another pod that took the pod's address": {w.serve(other, w.addressOfPod(pod)+":0"), true},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := w.forward(pod, tc.port)
			require.ErrorContains(t, err, errForeignListener.Error())
			assert.Empty(t, answer)
			err = w.CheckProbe(w.addressOfPod(pod), int(tc.port))
			assert.Equal(t, tc.atPodAddress, errors.Is(err, errForeignListener), err)
		})
	}
	t.Run("but the pod, when both listen on the same port", func(t *testing.T) {
		port := w.serve(other, "$POD_IP:0")
		require.Equal(t, port, w.serve(pod, "$POD_IP:"+strconv.Itoa(int(port))))
		require.NoError(t, w.CheckProbe(w.addressOfPod(pod), int(port)))
		require.NoError(t, w.CheckProbe(w.addressOfPod(other), int(port)))
	})
	t.Run("but a child of the pod's that shares neither environment nor session", func(t *testing.T) {
		answer, err := w.forward(pod, w.serve(pod, "127.0.0.1:0", "spawn"))
		require.NoError(t, err)
		assert.Equal(t, "HELLO", answer)
	})
	assert.NoError(t, w.CheckProbe("192.0.2.7", 80), "not an address of a pod")
	assert.NoError(t, w.CheckProbe(w.addressOfPod(pod), 1), "nobody listens")
}
