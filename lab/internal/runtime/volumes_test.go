package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// volume makes a volume with one file in it.
func (w *world) volume(name, content string) string {
	dir := filepath.Join(w.dir, "volumes", name)
	require.NoError(w, os.MkdirAll(dir, 0o777))
	require.NoError(w, os.WriteFile(filepath.Join(dir, "file"), []byte(content), 0o644))
	return dir
}

func mounts(m ...*runtimeapi.Mount) change {
	return func(c *runtimeapi.ContainerConfig) { c.Mounts = m }
}

// needsView is for what a container without a root directory of its own does not
// have; see TestWithoutIsolation for what it has.
func needsView(w *world) {
	if w.isolation == noIsolation {
		w.Skip("the kernel lets this user make no mount namespace")
	}
}

func TestVolumes(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	a, b := w.volume("a", "A"), w.volume("b", "B")
	for name, tc := range map[string]struct {
		mounts []*runtimeapi.Mount
		script string
		want   string
	}{
		"at a directory of the host": {
			[]*runtimeapi.Mount{{HostPath: a, ContainerPath: "/mnt"}}, "cat /mnt/file", "A",
		},
		"at a directory that the host does not have": {
			[]*runtimeapi.Mount{{HostPath: a, ContainerPath: "/no-such-dir/below"}}, "cat /no-such-dir/below/file", "A",
		},
		"at a directory that would have to be made among the host's": {
			[]*runtimeapi.Mount{{HostPath: a, ContainerPath: "/usr/share/no/such/dir"}},
			"cat /usr/share/no/such/dir/file; test -d /usr/lib && ls /usr/share | wc -l | grep -q .. && echo + the rest", "A+ the rest",
		},
		"behind a symbolic link": {
			[]*runtimeapi.Mount{{HostPath: a, ContainerPath: "/var/run/secrets/here"}}, "cat /run/secrets/here/file", "A",
		},
		"a single file": {
			[]*runtimeapi.Mount{{HostPath: filepath.Join(b, "file"), ContainerPath: "/etc/no-such-file"}}, "cat /etc/no-such-file", "B",
		},
		"over a file of the host": {
			[]*runtimeapi.Mount{{HostPath: filepath.Join(b, "file"), ContainerPath: "/etc/hosts"}}, "cat /etc/hosts", "B",
		},
		"one within another, whatever the order": {
			[]*runtimeapi.Mount{{HostPath: b, ContainerPath: "/data/inner"}, {HostPath: a, ContainerPath: "/data"}},
			"cat /data/file /data/inner/file", "AB",
		},
		"one within another that is read-only": {
			[]*runtimeapi.Mount{{HostPath: a, ContainerPath: "/data", Readonly: true}, {HostPath: b, ContainerPath: "/data/new"}},
			"cat /data/file /data/new/file", "AB",
		},
		"in /tmp": {
			[]*runtimeapi.Mount{{HostPath: a, ContainerPath: "/tmp/x"}}, "cat /tmp/x/file", "A",
		},
		"in /dev, as the termination log": {
			[]*runtimeapi.Mount{{HostPath: filepath.Join(a, "file"), ContainerPath: "/dev/termination-log"}}, "cat /dev/termination-log", "A",
		},
		"writable": {
			[]*runtimeapi.Mount{{HostPath: b, ContainerPath: "/data"}}, "touch /data/new && printf ok", "ok",
		},
		"read-only": {
			[]*runtimeapi.Mount{{HostPath: a, ContainerPath: "/data", Readonly: true}}, "touch /data/new 2>/dev/null || printf refused", "refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := w.output(tc.script, mounts(tc.mounts...))
			assert.Equal(t, tc.want, strings.ReplaceAll(out, "\n", ""))
		})
	}
	for _, path := range []string{"/no-such-dir", "/usr/share/no", "/run/secrets/here", "/etc/no-such-file"} {
		assert.NoFileExists(t, path, "the host is not touched")
		assert.NoDirExists(t, path, "the host is not touched")
	}
}

func TestExecSeesTheVolumes(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	id := w.run(w.pod("exec"), idle, mounts(
		&runtimeapi.Mount{HostPath: w.volume("a", "A"), ContainerPath: "/usr/share/no/such/dir", Readonly: true}))
	for range 2 {
		assert.Equal(t, "A", w.sync(id, "cat /usr/share/no/such/dir/file"))
	}
}

func TestTmpIsPrivate(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	one, two := w.run(w.pod("one"), idle), w.run(w.pod("two"), idle)
	w.sync(one, "echo 1 > /tmp/healthy")
	w.sync(two, "test ! -e /tmp/healthy")
	assert.NoFileExists(t, "/tmp/healthy")
}

func TestUser(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	as := func(uid, gid int64) change {
		return func(c *runtimeapi.ContainerConfig) {
			c.Linux.SecurityContext.RunAsUser.Value = uid
			c.Linux.SecurityContext.RunAsGroup = &runtimeapi.Int64Value{Value: gid}
		}
	}
	assert.Equal(t, "0 0\n", w.output("echo $(id -u) $(id -g)", as(0, 0)))
	assert.Equal(t, "1234 2345\n", w.output("echo $(id -u) $(id -g); touch /tmp/mine", as(1234, 2345)))
	assert.Equal(t, "CapEff: 0000000000000000\n", w.output("grep CapEff /proc/self/status | tr '\\t' ' '", as(1234, 2345)))

	id := w.run(w.pod("exec"), idle, as(1234, 2345))
	assert.Equal(t, "1234\n", w.sync(id, "id -u"))
	assert.EqualValues(t, 1234, w.status(id).User.Linux.Uid)
}

func TestSurroundings(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	assert.Equal(t, "output\n", w.output("hostname"))
	out := w.output("echo $HOSTNAME $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT $HOME; env | grep -c ^KUBERNETES_SERVICE_HOST",
		func(c *runtimeapi.ContainerConfig) {
			c.Envs = []*runtimeapi.KeyValue{{Key: "KUBERNETES_SERVICE_HOST", Value: []byte("10.96.0.1")}}
		})
	assert.Equal(t, "output 127.0.0.1:6443 /tmp\n1\n", out)
	assert.Equal(t, "ok\n", w.output("echo x > /dev/null && head -c1 /dev/urandom > /dev/shm/x && echo ok"))
}

func TestContainerInheritsNothingOfTheLab(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	lifeline, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", w.options.Lifeline.Fd()))
	require.NoError(t, err)
	const list = "ls -l /proc/$$/fd"
	id := w.run(w.pod("fds"), list+"; exec sleep 1000")
	w.prints(id, "2 -> pipe")
	for _, open := range []string{w.log(id, "stdout"), w.sync(id, list)} {
		assert.NotContains(t, open, lifeline)
		assert.NotContains(t, open, w.options.Alive.Name())
		assert.NotContains(t, open, w.dir)
	}
}

func TestWithoutIsolation(t *testing.T) {
	w := newWorld(t)
	w.isolation = noIsolation
	account := w.volume("account", "")
	require.NoError(t, os.WriteFile(filepath.Join(account, "namespace"), []byte("shop"), 0o600))
	out := w.output(`cat "$LAB_ROOT/data/file"; echo; cat "$KUBECONFIG"`, mounts(
		&runtimeapi.Mount{HostPath: w.volume("a", "A"), ContainerPath: "/data"},
		&runtimeapi.Mount{HostPath: w.volume("b", "B"), ContainerPath: "/data/inner"},
		&runtimeapi.Mount{HostPath: account, ContainerPath: serviceAccountDir, Readonly: true},
	), func(c *runtimeapi.ContainerConfig) { c.Linux = nil })
	assert.Contains(t, out, "A\n")
	assert.Contains(t, out, `server: "https://127.0.0.1:6443"`)
	assert.Contains(t, out, `tokenFile: "`+filepath.Join(account, "token")+`"`)
	assert.Contains(t, out, `namespace: "shop"`)
	id := w.run(w.pod("exec"), idle, func(c *runtimeapi.ContainerConfig) { c.Linux.SecurityContext.RunAsUser.Value = 1234 })
	assert.Contains(t, w.sync(id, "echo $LAB_ROOT"), id)
	assert.Equal(t, strconv.Itoa(os.Geteuid())+"\n", w.sync(id, "id -u"), "another user could not reach its files")
}
