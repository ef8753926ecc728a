// Package e2e runs the image in the pods of labs.
package e2e

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/image"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testport"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/testcluster"
)

const (
	nobody = 65534
	pause  = 100 * time.Millisecond
)

// testTimeout is for each program of a lab, of which two start at the same time.
var testTimeout = max(testcluster.TestTimeout, 3*time.Minute)

// make the image with an agent that becomes postgres.
func makeImage(t *testing.T) (archive string, made image.Made) {
	t.Helper()
	archive = filepath.Join(t.TempDir(), "postgres.tar")
	made, err := image.Make(t.Context(), image.Options{PostgreSQL: testpostgres.Find(t), Agent: "../testdata/agent", Output: archive})
	require.NoError(t, err)
	_, err = os.ReadFile("../testdata/agent/main.go") // for go test's cache: go build reads it
	require.NoError(t, err)
	return archive, made
}

func TestPostgreSQLRunsInThePodsOfALab(t *testing.T) {
	archive, made := makeImage(t)
	users := map[string]*syscall.SysProcAttr{"the one who tests": nil}
	if os.Geteuid() == 0 {
		users["one without rights"] = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	for name, user := range users {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := startLab(t, user)
			l.run(nil, "lab", "load", l.readable(archive))
			l.run(nil, "kubectl", "label", "namespace", "default", "pod-security.kubernetes.io/enforce=restricted")
			_, port, err := net.SplitHostPort(testport.Hold(t, "127.0.0.1")) // which is the pod's address, too, elsewhere than on Linux
			require.NoError(t, err)
			pod, err := os.ReadFile("pod.yaml")
			require.NoError(t, err)
			l.run([]byte(strings.NewReplacer("IMAGE", made.Name, "PORT", port).Replace(string(pod))), "kubectl", "apply", "-f", "-")
			address := l.addressOf("member")
			assert.Equal(t, "PostgreSQL, Zürich", l.query(net.JoinHostPort(address, port), `
				select split_part(version(), ' ', 1) || ', Z' || lower('ü') || 'rich'
				from pg_timezone_names where name = 'Europe/Zurich'`))
			if runtime.GOOS == "linux" {
				ids := l.run(nil, "kubectl", "exec", "member", "-c", "postgres", "--", "sh", "-c",
					`while read -r name id rest; do case $name in Uid:|Gid:) echo $name $id; esac; done </proc/self/status`)
				assert.NotContains(t, ids, "id: 0\n", "as the pod sees it")
				if os.Geteuid() == 0 && user == nil { // others may have no user namespaces
					assert.Equal(t, "Uid: 26\nGid: 26\n", ids)
				}
			}
		})
	}
}

// lab is a cluster of one node.
type lab struct {
	t          *testing.T
	dir        string
	programs   string
	attributes *syscall.SysProcAttr // of its processes
}

// startLab starts a lab of a user, which ends with the test.
func startLab(t *testing.T, user *syscall.SysProcAttr) *lab {
	t.Helper()
	home, err := os.MkdirTemp("", "lab-") //nolint:usetesting // nobody else may enter t.TempDir
	require.NoError(t, err)
	l := &lab{t: t, dir: filepath.Join(home, "lab"), programs: os.Getenv("KUBEBUILDER_ASSETS"), attributes: user}
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(home)) })
	_ = os.Getenv("LAB_INPUTS") // Go's test cache sees that it is read: it holds a hash of the lab
	_, err = os.Stat(filepath.Join(l.programs, "lab"))
	require.NoError(t, err, "these tests need the lab: run `make lab`, then `make test-5-postgres`, at the root of the repository")
	if user != nil {
		require.NoError(t, os.Chown(home, nobody, nobody))
		program := l.readable(filepath.Join(l.programs, "lab"))
		l.programs = filepath.Dir(program)
		require.NoError(t, os.Symlink("lab", filepath.Join(l.programs, "kubectl")))
	}
	// A start that fails half-way has started half.
	t.Cleanup(func() {
		output, err := l.command(context.Background(), nil, "lab", "reset")
		assert.NoError(t, err, output)
	})
	l.run(nil, "lab", "up")
	return l
}

// readable copies a file to where the lab's user may read it: who knows about the others.
func (l *lab) readable(path string) string {
	l.t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(l.t, err)
	folder := filepath.Join(filepath.Dir(l.dir), "files")
	require.NoError(l.t, os.MkdirAll(folder, 0o755))
	copied := filepath.Join(folder, filepath.Base(path))
	// A child that another test forks meanwhile has the file open for writing until it
	// executes its own program, and such a file cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(l.t, os.WriteFile(copied, content, 0o755))
	return copied
}

func (l *lab) command(ctx context.Context, stdin []byte, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(l.programs, program), args...)
	c.Env = append(os.Environ(), "HOME="+l.dir, "LAB_DIR="+l.dir, "KUBECONFIG="+filepath.Join(l.dir, "kubeconfig"))
	c.Dir, c.Stdin, c.SysProcAttr = "/", bytes.NewReader(stdin), l.attributes
	output, err := c.CombinedOutput()
	return string(output), err
}

func (l *lab) run(stdin []byte, program string, args ...string) string {
	l.t.Helper()
	output, err := l.command(l.t.Context(), stdin, program, args...)
	require.NoError(l.t, err, "%s %v: %s", program, args, output)
	return output
}

// addressOf waits until a pod runs.
func (l *lab) addressOf(pod string) string {
	l.t.Helper()
	output, err := l.command(l.t.Context(), nil, "kubectl", "wait", "--for=condition=Ready", "pod/"+pod, "--timeout="+testTimeout.String())
	if err != nil {
		logs, _ := l.command(l.t.Context(), nil, "kubectl", "logs", "--all-containers", pod)
		description, _ := l.command(l.t.Context(), nil, "kubectl", "describe", "pod", pod)
		require.NoError(l.t, err, "%s\n%s\n%s", output, logs, description)
	}
	return l.run(nil, "kubectl", "get", "pod", pod, "-o", "jsonpath={.status.podIP}")
}

// query waits until PostgreSQL answers.
func (l *lab) query(address, sql string) string {
	l.t.Helper()
	var answer string
	require.EventuallyWithT(l.t, func(t *assert.CollectT) {
		ctx, cancel := context.WithTimeout(l.t.Context(), testTimeout)
		defer cancel()
		connection, err := pgx.Connect(ctx, "postgres://postgres@"+address+"/postgres")
		if !assert.NoError(t, err) {
			return
		}
		defer connection.Close(ctx)
		assert.NoError(t, connection.QueryRow(ctx, sql).Scan(&answer))
	}, testTimeout, pause)
	return answer
}
