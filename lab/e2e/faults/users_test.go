package faults

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// nobody is a user without any rights. A test that root runs becomes this user;
// one that another user runs has no rights anyway.
const nobody = 65534

func TestAnUnprivilegedUser(t *testing.T) {
	lab, err := labtest.New()
	require.NoError(t, err)
	home := filepath.Dir(lab.Dir)
	lab.Env = []string{"HOME=" + home}
	if os.Geteuid() == 0 {
		lab.Attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		lab.Program = filepath.Join(home, "lab-binary") // who knows who may read the clone
		binary, err := labtest.Binary()
		require.NoError(t, err)
		testenv.CopyProgram(t, binary, lab.Program)
		require.NoError(t, os.Chown(home, nobody, nobody))
	}
	t.Cleanup(func() { assert.NoError(t, lab.Remove()) })

	lab.Run(t, "up")
	expectPodRuns(t, lab, "unprivileged")
	// As the restricted profile wants it: not root, whoever that is here.
	lab.Kubectl(t, "run", "restricted", "--image=busybox", "--restart=Never",
		`--overrides={"spec":{"securityContext":{"runAsNonRoot":true,"runAsUser":1234}}}`, "--command", "--",
		"sh", "-c", "cat \"$LAB_ROOT\"/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	lab.Kubectl(t, "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/restricted", labtest.TimeoutFlag)
	assert.Equal(t, "default", lab.Kubectl(t, "logs", "restricted"))

	createClaim(t, lab)
	appendToVolume(t, lab, "first")
	appendToVolume(t, lab, "second", "first")
	expectNodePort(t, lab)

	lab.Run(t, "up", "--static-pods")
	expectHealthy(t, lab)
	expectPodRuns(t, lab, "placed-by-a-static-pod")
}

// expectNodePort reaches a pod of this lab at a node port. As another user than root, the API
// does not accept its address as an endpoint.
func expectNodePort(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	var volumes []string
	labtest.Eventually(t, "the claim has a volume", func(context.Context) (err error) {
		if volumes, err = filepath.Glob(filepath.Join(lab.Dir, "volumes", "default-data-*")); err == nil && len(volumes) != 1 {
			err = fmt.Errorf("there are %q", volumes)
		}
		return err
	})
	testenv.CopyProgram(t, os.Args[0], filepath.Join(volumes[0], "server"))
	lab.Kubectl(t, "run", "server", "--image=busybox", "--labels=app=server", "--port=18093", "--overrides", `{"spec": {
		"terminationGracePeriodSeconds": 1,
		"containers": [{
			"name": "server", "image": "busybox", "command": ["sh", "-c", "`+serverEnv+`=$POD_IP:18093 exec \"$LAB_ROOT\"/data/server"],
			"volumeMounts": [{"name": "data", "mountPath": "/data"}],
			"readinessProbe": {"tcpSocket": {"port": 18093}, "periodSeconds": 1}}],
		"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}}`)
	lab.Kubectl(t, "expose", "pod", "server", "--type=NodePort", "--port=18093")
	expectServed(t, lab)
}

// expectServed wants an answer of this lab's pod at the port of its Service.
func expectServed(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	port := lab.Kubectl(t, "get", "service", "server", "-o", "jsonpath={.spec.ports[0].nodePort}")
	labtest.Eventually(t, "the pod answers on its Service's port", func(ctx context.Context) error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			return err
		}
		defer conn.Close()
		answer, err := io.ReadAll(conn)
		want := "served by " + lab.Kubectl(t, "get", "pod", "server", "-o", "jsonpath={.status.podIP}")
		if err == nil && string(answer) != want {
			err = fmt.Errorf("it has answered %q", answer)
		}
		return err
	})
}

// serverEnv makes this program a server at the address that is its value.
const serverEnv = "TEST_SERVE"

// serve answers each client with the pod that it is.
func serve(address string) error {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		_, _ = io.WriteString(conn, "served by "+os.Getenv("POD_IP"))
		_ = conn.Close()
	}
}
