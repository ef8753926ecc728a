package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testport"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

type report = plan.Report

// nobody is the user that runs the agents where the tests run as root, as whom no PostgreSQL
// runs.
const nobody = 65534

// agent is a process that runs a member.
type agent struct {
	*env
	name    string
	uid     types.UID
	data    string
	command *exec.Cmd
	done    chan struct{} // closed when it has ended
	address string        // of PostgreSQL
	status  string        // of /status
	// leftLease is whether it held the Lease when it had ended.
	leftLease bool
	// last is what it has reported last. On a busy machine it may not answer in time.
	last atomic.Pointer[report]
}

// start creates the pod of a member, and plays the kubelet: it runs the agent on the member's
// disk.
func (e *env) start(name string) *agent {
	e.Helper()
	return e.startWith(name, e.kubeconfig(name+".kubeconfig", e.config))
}

func (e *env) startWith(name, kubeconfig string) *agent {
	e.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "agent"}}},
	}
	require.NoError(e, e.client.Create(e.Context(), pod))
	ip := freeIP()
	return e.run(pod, kubeconfig, testport.Hold(e, ip), testport.Hold(e, ip))
}

// run runs the agent of a pod on its member's disk.
func (e *env) run(pod *corev1.Pod, kubeconfig, address, status string) *agent {
	e.Helper()
	name := pod.Name
	a := &agent{env: e, name: name, uid: pod.UID, data: filepath.Join(e.folder, name), done: make(chan struct{}), address: address, status: status}
	if err := os.Mkdir(a.data, 0o700); err == nil {
		e.own(a.data)
	}
	log, err := os.OpenFile(filepath.Join(e.folder, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(e, err)
	a.command = e.program(append([]string{
		"--kubeconfig", kubeconfig, "--namespace", e.namespace, "--cluster", "db", "--name", name, "--uid", string(a.uid),
		"--data", a.data, "--address", host(a.address), "--port", port(a.address), "--status-port", port(a.status), "--secrets", filepath.Join(e.folder, "secrets"), "--programs", e.programs,
	}, e.flags...)...)
	a.command.Stdout, a.command.Stderr = log, log
	require.NoError(e, a.command.Start())
	e.agents[name] = a
	go func() {
		_ = a.command.Wait() // what it returns is in ProcessState
		log.Close()
		close(a.done)
	}()
	e.Cleanup(func() { a.cleanUp() })
	return a
}

// program is a process of the agent.
func (e *env) program(args ...string) *exec.Cmd {
	e.Helper()
	command := exec.Command(self(e), args...)
	command.Env = append(os.Environ(), asAgent+"=yes", "TMPDIR="+e.folder,
		"GORACE=atexit_sleep_ms=0") // or each file that PostgreSQL has it fetch takes a second more
	command.Env = append(command.Env, e.variables...)
	command.Dir = e.folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return command
}

var addresses atomic.Int32

// freeIP is one of this machine that no other member has, as that of a pod. Elsewhere than on
// Linux they share one.
func freeIP() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1"
	}
	n := addresses.Add(1)
	return fmt.Sprintf("127.%d.%d.%d", 1+os.Getpid()%250, n/250, 1+n%250)
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// self is this program.
func self(e *env) string {
	e.Helper()
	if runtime.GOOS == "linux" && e.backup == "" {
		return "/proc/self/exe" // its folder is closed to others
	}
	path, err := os.Executable()
	require.NoError(e, err)
	if e.backup == "" {
		return path
	}
	copied := filepath.Join(e.folder, "agent") // which PostgreSQL can run, too
	if _, err := os.Stat(copied); err == nil {
		return copied
	}
	content, err := os.ReadFile(path)
	require.NoError(e, err)
	require.NoError(e, os.WriteFile(copied, content, 0o755)) //nolint:gosec // others run it
	return copied
}

func (a *agent) cleanUp() {
	a.signal(syscall.SIGCONT)
	a.signal(syscall.SIGTERM)
	<-a.done
	assert.False(a, a.logged(a.name, "DATA RACE"))
	assert.False(a, a.logged(a.name, "is forbidden"), "a request is refused")
	if !a.Failed() {
		return
	}
	a.Logf("log of %s:\n%s", a.name, a.log(a.name))
}

// log is what the agents of a member, and PostgreSQL, have logged.
func (e *env) log(name string) string {
	content, err := os.ReadFile(filepath.Join(e.folder, name+".log"))
	require.NoError(e, err)
	return string(content)
}

// logged reports whether something is in that log.
func (e *env) logged(name, text string) bool {
	e.Helper()
	return strings.Contains(e.log(name), text)
}

func (a *agent) signal(signal syscall.Signal) {
	if !a.ended() {
		_ = a.command.Process.Signal(signal) // an error means that it ends just now
	}
}

// stop ends the agent as the kubelet does, and does what the operator does
// then. It returns the exit code.
func (a *agent) stop() int {
	a.Helper()
	a.signal(syscall.SIGTERM)
	return a.ends()
}

// kill ends the agent at once. Elsewhere than on Linux, who runs pods ends the process group.
func (a *agent) kill() {
	a.Helper()
	a.killAll()
	a.ends()
	a.eventually(func() bool { return !listens(a.address) }, "the PostgreSQL of %s ends with it", a.name)
}

func (a *agent) killAll() {
	a.Helper()
	if runtime.GOOS == "linux" {
		a.signal(syscall.SIGKILL)
	} else {
		require.NoError(a, syscall.Kill(-a.command.Process.Pid, syscall.SIGKILL))
	}
}

// ends waits until the agent has ended, and does what the operator does then: it removes the
// pod, and frees its Lease.
func (a *agent) ends() int {
	a.Helper()
	a.eventually(a.ended, "%s ends", a.name)
	require.NoError(a, a.client.Delete(a.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name}}))
	delete(a.agents, a.name)
	a.leftLease = a.holder() == string(a.uid)
	if a.leftLease {
		a.freeLease()
	}
	return a.command.ProcessState.ExitCode()
}

// report is what the agent says on /status.
func (a *agent) report() (report, error) {
	var r report
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + a.status + "/status")
	if err != nil {
		return r, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return r, fmt.Errorf("%s: %s", a.name, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&r); err != nil {
		return r, err
	}
	a.last.Store(&r)
	return r, nil
}

// awaits waits until the agent reports that it is so.
func (a *agent) awaits(what string, is func(report) bool) report {
	a.Helper()
	reports := make(chan report, 1)
	if !assert.Eventually(a, func() bool {
		r, err := a.report()
		if err != nil || !is(r) {
			return false
		}
		reports <- r
		return true
	}, testcluster.TestTimeout, pause, "%s %s", a.name, what) {
		r, err := a.report()
		require.FailNow(a, "its report", "%+v, %v", r, err)
	}
	return <-reports
}

// postgreSQL is the process of the member's PostgreSQL.
func (a *agent) postgreSQL() (pid int) {
	a.Helper()
	pid = a.findPostgreSQL()
	require.NotZero(a, pid, "PostgreSQL of %s doesn't run", a.name)
	return pid
}

// findPostgreSQL is 0 while there is none: it starts, or has ended.
func (a *agent) findPostgreSQL() (pid int) {
	content, err := os.ReadFile(filepath.Join(a.data, "database", "postmaster.pid"))
	if err == nil {
		_, _ = fmt.Sscan(string(content), &pid)
	}
	return pid
}

// listens reports whether anybody listens at an address.
func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func host(address string) string {
	host, _, _ := net.SplitHostPort(address)
	return host
}
