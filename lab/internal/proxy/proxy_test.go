package proxy

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"example.com/hacking-a-controller/lab/internal/claim"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// newService selects the primary, whose port is that of its address.
func newService(nodePort int) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rw"},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeNodePort,
			Selector: map[string]string{"role": "primary"},
			Ports: []corev1.ServicePort{
				{Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("postgres"), NodePort: int32(nodePort)},
				{Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromString("postgres"), NodePort: 1}, // only root could listen there
			},
		},
	}
}

// newPrimary is a pod whose server is the backend.
func newPrimary(name string, backend endpoint) *corev1.Pod {
	address, _ := net.ResolveTCPAddr("tcp4", backend.address)
	return newPod(func(p *corev1.Pod) {
		p.Name, p.UID = name, backend.pod
		p.Status.PodIP = address.IP.String()
		p.Spec.Containers[0].Ports[0].ContainerPort = int32(address.Port)
	})
}

// start returns when the proxy watches: what happens to a fake before that, it tells nobody.
func start(t *testing.T, client *fake.Clientset, events record.EventRecorder) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, client, "some-node", events, slog.New(slog.DiscardHandler)) }()
	stop = func() {
		cancel()
		assert.NoError(t, <-done)
		done <- nil
	}
	t.Cleanup(stop)
	require.Eventually(t, func() bool {
		watches := 0
		for _, action := range client.Actions() {
			if action.GetVerb() == "watch" {
				watches++
			}
		}
		return watches == 2
	}, testenv.Timeout(), 10*time.Millisecond)
	return stop
}

// freePort returns a port where nobody listens. Like those of a lab, it is none that the
// kernel gives to outgoing connections, and no lab takes it while the test runs.
func freePort(t *testing.T) (int, string) {
	t.Helper()
	var claims claim.Claims
	t.Cleanup(claims.Release)
	for {
		port := 20000 + rand.IntN(10000)
		ours, err := claims.Port(port)
		require.NoError(t, err)
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		// luck: it is claimed
		require.NoError(t, l.Close())
		if ours {
			return port, l.Addr().String()
		}
	}
}

// connected returns a client that the named backend has greeted.
func connected(t *testing.T, address, name string) client {
	t.Helper()
	var c client
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp4", address)
		if err != nil {
			return false
		}
		c = client{conn.(*net.TCPConn), bufio.NewReader(conn)}
		line, err := c.lines.ReadString('\n')
		if err != nil || line != name+"\n" {
			_ = conn.Close()
			return false
		}
		return true
	}, testenv.Timeout(), 10*time.Millisecond)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(testenv.Timeout())))
	return c
}

func TestAServiceFollowsALabel(t *testing.T) {
	port, address := freePort(t)
	one, two := newPrimary("one", startBackend(t, "one")), newPrimary("two", startBackend(t, "two"))
	two.Labels = nil
	client := fake.NewClientset(newService(port), one, two)
	stop := start(t, client, record.NewFakeRecorder(10))
	first := connected(t, address, "one")

	pods := client.CoreV1().Pods("default")
	one.Labels, two.Labels = nil, one.Labels
	for _, pod := range []*corev1.Pod{one, two} {
		_, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	first.expectReset(t)
	second := connected(t, address, "two")

	require.NoError(t, client.CoreV1().Services("default").Delete(t.Context(), "rw", metav1.DeleteOptions{}))
	second.expectReset(t)
	expectFree(t, address)

	_, err := client.CoreV1().Services("default").Create(t.Context(), newService(port), metav1.CreateOptions{})
	require.NoError(t, err)
	third := connected(t, address, "two")
	stop()
	third.expectReset(t)
	expectFree(t, address)
}

func expectFree(t *testing.T, address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		l, err := net.Listen("tcp4", address)
		if err != nil {
			return false
		}
		return assert.NoError(t, l.Close())
	}, testenv.Timeout(), 10*time.Millisecond)
}

func TestAServiceWithoutASelectorHasNoPods(t *testing.T) {
	port, address := freePort(t)
	service := newService(port)
	service.Spec.Selector = nil
	start(t, fake.NewClientset(service, newPrimary("one", startBackend(t, "one"))), record.NewFakeRecorder(10))
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp4", address)
		if err == nil {
			_ = conn.Close()
		}
		return !errors.Is(err, syscall.ECONNREFUSED)
	}, testenv.Timeout(), 10*time.Millisecond)
	expectRefused(t, address)
}

func TestAPortThatIsTakenIsSaidAndTriedAgain(t *testing.T) {
	thief := listen(t)
	port := thief.Addr().(*net.TCPAddr).Port
	events := record.NewFakeRecorder(10)
	start(t, fake.NewClientset(newService(port), newPrimary("one", startBackend(t, "one"))), events)
	select {
	case event := <-events.Events:
		assert.Contains(t, event, "Warning FailedToListen")
		assert.Contains(t, event, "another program has it (end that program, or choose another nodePort)")
	case <-time.After(testenv.Timeout()):
		require.FailNow(t, "no event")
	}
	require.NoError(t, thief.Close())
	connected(t, thief.Addr().String(), "one").expectEcho(t)
	assert.Empty(t, events.Events, "said once")
}
