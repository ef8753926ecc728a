package runtime

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/claim"
	"example.com/hacking-a-controller/lab/internal/image"
	"example.com/hacking-a-controller/lab/internal/podnet"
	"example.com/hacking-a-controller/lab/internal/shim"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// manyAddresses: macOS has one address for all pods.
const manyAddresses = goruntime.GOOS == "linux"

var testTimeout = testenv.Timeout()

// tick is how often a condition is checked.
const tick = 5 * time.Millisecond

// world is a runtime in a folder of its own, driven as the kubelet drives it.
type world struct {
	testing.TB
	*Service

	dir      string
	store    *image.Store
	lifeline *os.File // the supervisor's end
	options  Options
	prefix   netip.Prefix
}

// newWorld starts a runtime. At the end of the test everything that it ran must
// be gone.
func newWorld(t testing.TB) *world {
	t.Helper()
	// The path of a clone may hold a space.
	dir := filepath.Join(t.TempDir(), "a lab")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	line, end, err := os.Pipe()
	require.NoError(t, err)
	var claims claim.Claims
	t.Cleanup(claims.Release)
	prefix, err := podnet.Choose(claims.Pods)
	require.NoError(t, err)
	require.NoError(t, podnet.Setup(prefix))
	t.Cleanup(func() { assert.NoError(t, podnet.Teardown(prefix)) })
	alive, err := os.Create(filepath.Join(dir, "alive.lock"))
	require.NoError(t, err)
	w := &world{TB: t, dir: dir, prefix: prefix, store: image.NewStore(filepath.Join(dir, "images")), lifeline: end}
	w.options = Options{
		Root: filepath.Join(dir, "runtime"), Images: w.store, Pool: podnet.NewPool(prefix),
		NodeIP: "192.0.2.1", APIServer: "127.0.0.1:6443", CAFile: filepath.Join(dir, "ca.crt"), Lifeline: line, Alive: alive,
	}
	w.open()
	t.Cleanup(func() {
		ids := w.ids()
		if w.lifeline != nil {
			assert.NoError(t, end.Close())
		}
		for _, id := range ids {
			assert.NoError(t, waitGone(context.Background(), filepath.Join(w.options.Root, "containers", id, shim.LifeFIFO)))
		}
		assert.NoError(t, w.Close(context.Background()))
		assert.NoError(t, line.Close())
		assert.NoError(t, alive.Close())
		for _, id := range ids {
			assert.Empty(t, leftovers(id), "processes of container %s are left", id)
			complaints, _ := os.ReadFile(filepath.Join(w.options.Root, "containers", id, "shim.log"))
			assert.Empty(t, string(complaints))
		}
	})
	return w
}

// open starts a Service over the same folder, as a restarted kubelet does.
func (w *world) open() {
	w.Helper()
	service, err := New(w.Context(), w.options)
	require.NoError(w, err)
	w.Service = service
}

// reopen replaces the Service.
func (w *world) reopen() {
	w.Helper()
	require.NoError(w, w.Close(w.Context()))
	w.options.Pool = podnet.NewPool(w.prefix)
	w.open()
}

func (w *world) ids() (ids []string) {
	entries, err := os.ReadDir(filepath.Join(w.options.Root, "containers"))
	require.NoError(w, err)
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	return ids
}

// pod runs a sandbox and returns its ID.
func (w *world) pod(name string) string {
	w.Helper()
	id, err := w.RunPodSandbox(w.Context(), w.podConfig(name), "")
	require.NoError(w, err)
	return id
}

func (w *world) podConfig(name string) *runtimeapi.PodSandboxConfig {
	return &runtimeapi.PodSandboxConfig{
		Metadata:     &runtimeapi.PodSandboxMetadata{Name: name, Namespace: "default", Uid: name + "-uid"},
		Hostname:     name,
		LogDirectory: filepath.Join(w.dir, "logs", name),
		Labels:       map[string]string{"app": name},
	}
}

// idle is the script of a container that is one process and waits.
const idle = "exec sleep 1000"

// change changes the configuration of a container before it is created.
type change func(*runtimeapi.ContainerConfig)

// create creates a container that runs a shell script. A script may write to
// $LAB_ROOT: the root directory of the container, or what there is in its place.
func (w *world) create(pod, script string, changes ...change) string {
	w.Helper()
	config := &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "main"},
		Image:    &runtimeapi.ImageSpec{Image: "busybox:1.36"},
		Command:  []string{"sh", "-c", script},
		LogPath:  "main/" + newID() + ".log",
		Linux: &runtimeapi.LinuxContainerConfig{SecurityContext: &runtimeapi.LinuxContainerSecurityContext{
			RunAsUser: &runtimeapi.Int64Value{Value: 0},
		}},
	}
	for _, f := range changes {
		f(config)
	}
	id, err := w.CreateContainer(w.Context(), pod, config, nil)
	require.NoError(w, err)
	return id
}

// run creates and starts a container.
func (w *world) run(pod, script string, changes ...change) string {
	w.Helper()
	id := w.create(pod, script, changes...)
	require.NoError(w, w.StartContainer(w.Context(), id))
	return id
}

// processes waits until the process of an idle container can be seen. Its start does not
// wait for that.
func (w *world) processes(id string) (pids []int) {
	w.Helper()
	require.Eventually(w, func() bool {
		pids = leftovers(id)
		return len(pids) == 1 || goruntime.GOOS != "linux"
	}, testTimeout, tick)
	return pids
}

// status returns the status of a container.
func (w *world) status(id string) *runtimeapi.ContainerStatus {
	w.Helper()
	response, err := w.ContainerStatus(w.Context(), id, false)
	require.NoError(w, err)
	return response.Status
}

// exited waits until the container has ended and returns its status.
func (w *world) exited(id string) *runtimeapi.ContainerStatus {
	w.Helper()
	require.Eventually(w, func() bool {
		return w.status(id).State == runtimeapi.ContainerState_CONTAINER_EXITED
	}, testTimeout, tick)
	return w.status(id)
}

// exitedID waits until the container has ended.
func (w *world) exitedID(id string) string {
	w.Helper()
	w.exited(id)
	return id
}

// log returns what the container wrote to a stream.
func (w *world) log(id, stream string) string {
	w.Helper()
	data, err := os.ReadFile(w.status(id).LogPath)
	require.NoError(w, err)
	var out, errOut strings.Builder
	for line := range strings.Lines(string(data)) {
		require.NoError(w, writeEntry([]byte(line), &out, &errOut))
	}
	if stream == "stderr" {
		return errOut.String()
	}
	return out.String()
}

// prints waits until the container has written text.
func (w *world) prints(id, text string) {
	w.Helper()
	require.Eventually(w, func() bool { return strings.Contains(w.log(id, "stdout"), text) }, testTimeout, tick,
		"the container never wrote %q", text)
}

// sync runs a command in a container and returns its output.
func (w *world) sync(id, script string) string {
	w.Helper()
	out, errOut, err := w.ExecSync(w.Context(), id, []string{"sh", "-c", script}, testTimeout)
	require.NoError(w, err, "%s", errOut)
	return string(out)
}

// output runs a script to its end and returns what it wrote.
func (w *world) output(script string, changes ...change) string {
	w.Helper()
	id := w.run(w.pod("output"), script, changes...)
	st := w.exited(id)
	require.EqualValues(w, 0, st.ExitCode, "stdout: %s\nstderr: %s\n%s", w.log(id, "stdout"), w.log(id, "stderr"), st.Message)
	return w.log(id, "stdout")
}
