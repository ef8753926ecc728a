package pods

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

// createMember creates a pod with a server. On macOS all pods have one address, so that
// each needs a port of its own; the Service finds it by its name.
func createMember(t *testing.T, namespace, name string, port int) {
	t.Helper()
	createPod(t, namespace, name, fmt.Sprintf(`
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  args: [-port=%[1]d]
  ports: [{name: http, containerPort: %[1]d}]
  readinessProbe: {httpGet: {path: /healthz, port: http}, periodSeconds: 1}`, port))
}

func TestANodePortFollowsTheReadyPod(t *testing.T) {
	ns := newNamespace(t)
	createMember(t, ns, "one", 18091)
	createMember(t, ns, "two", 18092)
	apply(t, ns, `
apiVersion: v1
kind: Service
metadata: {name: primary}
spec:
  type: NodePort
  selector: {role: primary}
  ports: [{port: 80, targetPort: http}]
`)
	port, err := strconv.Atoi(lab.Kubectl(t, "get", "service", "primary", "-n", ns, "-o", "jsonpath={.spec.ports[0].nodePort}"))
	require.NoError(t, err)
	expectReady(t, ns, "one")
	lab.Kubectl(t, "label", "pod", "one", "-n", ns, "role=primary")
	assert.Equal(t, "one\n", get(t, "127.0.0.1", port, "/"))
	toOne := idle(t, port)

	lab.Kubectl(t, "label", "pod", "one", "-n", ns, "role=replica", "--overwrite")
	expectCut(t, toOne)
	expectReady(t, ns, "two")
	lab.Kubectl(t, "label", "pod", "two", "-n", ns, "role=primary")
	assert.Equal(t, "two\n", get(t, "127.0.0.1", port, "/"))

	// Who is not ready any more loses its clients, too, without any change of a label.
	toTwo := idle(t, port)
	get(t, expectReady(t, ns, "two").Status.PodIP, 18092, "/break")
	expectCut(t, toTwo)
}

// idle returns a connection that says nothing.
func idle(t *testing.T, port int) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func expectCut(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetDeadline(time.Now().Add(testenv.Timeout())))
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err)
	timeout, ok := errors.AsType[net.Error](err)
	assert.False(t, ok && timeout.Timeout(), "it was not cut")
}
