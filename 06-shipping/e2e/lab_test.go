package e2e

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
	"example.com/hacking-a-controller/testcluster"
)

const (
	pause = 100 * time.Millisecond

	system    = "cnat-system" // where the manager is
	manager   = "cnat-manager"
	older     = "v0.6.0"
	newer     = "v0.6.1"
	leaseName = "cnat-manager"
	region    = "harbour"
)

// timeout is a flag of kubectl.
var timeout = "--timeout=" + testcluster.TestTimeout.String()

// lab is a cluster of one node, in which nothing is installed yet.
type lab struct {
	t      *testing.T
	dir    string // of the lab
	assets string // its programs
	tools  string // those of ../tools
	client kubernetes.Interface
	ats    versioned.Interface
}

func startLab(t *testing.T) *lab {
	t.Helper()
	testprogram.ReadBySomebodyElse(t, "../tools")
	l := &lab{t: t, dir: t.TempDir(), assets: os.Getenv("KUBEBUILDER_ASSETS"), tools: testprogram.Path(t, "SHIPPING_TOOLS")}
	_ = os.Getenv("LAB_INPUTS") // Go's test cache sees that it is read: it holds a hash of the lab
	_, err := os.Stat(filepath.Join(l.assets, "lab"))
	require.NoError(t, err, "these tests need the lab: run `make lab`, then `make test-heavy`, at the root of the repository")
	if runtime.GOOS != "linux" { // where each pod has an address of its own
		needPorts(t, "8443", "8081")
	}
	// A start that fails half-way has started half.
	t.Cleanup(func() {
		if t.Failed() {
			l.logManagers()
		}
		l.lab("down")
	})
	l.lab("up")

	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	config = rest.CopyConfig(config)
	config.QPS = -1
	l.client, l.ats = kubernetes.NewForConfigOrDie(config), versioned.NewForConfigOrDie(config)
	return l
}

// needPorts wants the manager's ports to be free, where all pods have the address of the machine.
func needPorts(t *testing.T, ports ...string) {
	t.Helper()
	for _, port := range ports {
		listener, err := net.Listen("tcp", ":"+port)
		require.NoError(t, err, "the manager needs port %s of this machine: end what listens there", port)
		require.NoError(t, listener.Close())
	}
}

func (l *lab) kubeconfig() string { return filepath.Join(l.dir, "kubeconfig") }

// logManagers logs what a person would look at first.
func (l *lab) logManagers() {
	for _, args := range [][]string{
		{"describe", "pods"},
		{"logs", "-l", "app.kubernetes.io/component=manager", "--prefix", "--tail=20"},
	} {
		output, _ := l.run(nil, "kubectl", append(args, "-n", system)...)
		l.t.Log(output)
	}
}

// lab runs a command of the lab.
func (l *lab) lab(args ...string) {
	l.t.Helper()
	_, err := l.run(nil, "lab", args...)
	assert.NoError(l.t, err)
}

// kubectl runs it, and returns what it says.
func (l *lab) kubectl(args ...string) string {
	l.t.Helper()
	output, err := l.run(nil, "kubectl", args...)
	require.NoError(l.t, err, "kubectl %v: %s", args, output)
	return output
}

// apply applies what a user would find in install.yaml.
func (l *lab) apply(manifests []byte) {
	l.t.Helper()
	output, err := l.run(manifests, "kubectl", "apply", "-f", "-")
	require.NoError(l.t, err, output)
}

// run runs a program of the lab, or another one by its path.
func (l *lab) run(stdin []byte, program string, args ...string) (string, error) {
	if !filepath.IsAbs(program) {
		program = filepath.Join(l.assets, program)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testcluster.TestTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(os.Environ(), "LAB_DIR="+l.dir, "KUBECONFIG="+l.kubeconfig())
	c.Stdin = bytes.NewReader(stdin)
	output, err := c.CombinedOutput()
	return string(output), err
}

// load builds the image of a version, and takes it to the node.
func (l *lab) load(version string) {
	l.t.Helper()
	testprogram.ReadBySomebodyElse(l.t, "../cmd/manager")
	archive := filepath.Join(l.t.TempDir(), version+".tar")
	l.tool(nil, "image", "--version="+version, "--revision=tested", "--output="+archive,
		"--platform="+runtime.GOOS+"/"+runtime.GOARCH) // the lab's node is this machine
	l.lab("load", archive)
}

// tool runs a program of ../tools in the stage's folder, as a user does.
func (l *lab) tool(stdin io.Reader, name string, args ...string) {
	l.t.Helper()
	c := exec.CommandContext(l.t.Context(), filepath.Join(l.tools, name), args...)
	c.Dir, c.Stdin = "..", stdin
	output, err := c.CombinedOutput()
	l.t.Log(string(output))
	assert.NoError(l.t, err, name)
}

// dist returns the manifests of a version, as make dist writes them.
func dist(t *testing.T, version, kustomization string) []byte {
	t.Helper()
	manifests, err := testmanifests.Dist(t, "..", version, kustomization, "REGION="+region)
	require.NoError(t, err)
	return manifests
}

// eventually waits until the function has no complaint.
func (l *lab) eventually(what string, complaint func() string) {
	l.t.Helper()
	var last string
	ok := assert.Eventually(l.t, func() bool { last = complaint(); return last == "" }, testcluster.TestTimeout, pause)
	if !ok {
		require.Fail(l.t, "waited in vain for "+what, last)
	}
}
