package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

func TestAgainstARealServer(t *testing.T) {
	c := testcluster.Shared(t)
	for name, test := range onARealServer {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newNamespace(t, c))
		})
	}
}

// Each of these has a namespace of its own. Another file has more, which not every system can run.
var onARealServer = map[string]func(*testing.T, *namespace){
	"every object, then every change":         everyObjectThenEveryChange,
	"a command and its variables":             aCommandAndItsVariables,
	"types, short names and whole names":      typesOfAllSorts,
	"types without namespaces":                withoutNamespaces,
	"nothing is there":                        nothingIsThere,
	"a good end is silent":                    silentEnd,
	"a selector":                              aSelector,
	"deleted while it was down":               deletedWhileDown,
	"names outside of the scope are not gone": outsideOfTheScope,
	"--names must work on an empty list":      namesMustWork,
	"an object that no command can be given":  whatNoCommandCanBeGiven,
	"--once ends with what has failed":        onceEndsWithFailures,
	"an exit code that means retry":           aRetryHasAHeader,
	"--resync-period replays everything":      replaysEverything,
	"--exit-after is a good end":              endsAfterAWhile,
	"a signal lets a child finish":            aSignalLetsAChildFinish,
	"a second signal kills it":                aSecondSignalKills,
	"metrics and health":                      metricsAndHealth,
	"metrics at the end":                      metricsAtTheEnd,
	"a port in use":                           aPortInUse,
	"types that cannot be observed":           cannotBeObserved,
	"list or watch is forbidden":              forbidden,
}

// namespace is a new one in a cluster, with ConfigMaps to observe.
type namespace struct {
	*testcluster.Cluster
	name     string
	server   string // its address for the programs that observe it
	cacheDir string // of discovery, which must not outlive the server
}

func newNamespace(t testing.TB, c *testcluster.Cluster) *namespace {
	t.Helper()
	created, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return &namespace{c, created.Name, c.Config.Host, t.TempDir()}
}

// args adds the cluster and the namespace. Without a port, because the default one
// may be taken.
func (n *namespace) args(args ...string) []string {
	return append([]string{"--kubeconfig", n.Kubeconfig, "--server", n.server, "--cache-dir", n.cacheDir, "-n", n.name, "--listen-addr="}, args...)
}

func (n *namespace) create(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := n.Client.CoreV1().ConfigMaps(n.name).Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"name": name},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

func (n *namespace) patch(t testing.TB, name, patch string) {
	t.Helper()
	_, err := n.Client.CoreV1().ConfigMaps(n.name).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
}

func (n *namespace) delete(t testing.TB, name string) {
	t.Helper()
	require.NoError(t, n.Client.CoreV1().ConfigMaps(n.name).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

// hasEvents waits until the header lines are these.
func (r *running) hasEvents(t testing.TB, want ...string) {
	t.Helper()
	eventually(t, func() bool { return assert.ObjectsAreEqual(want, events(r.stdout.String())) }, func() string {
		return fmt.Sprintf("want %q\ngot %q\n%s", want, events(r.stdout.String()), r.stderr.String())
	})
}

func everyObjectThenEveryChange(t *testing.T, n *namespace) {
	n.create(t, "c", "d", "a")
	r := start(t, n.args("configmaps", "-a", "{.data.x}", "-a", "<{.data.x}>")...)
	want := []string{"Sync " + n.name + ` a "" <>`, "Sync " + n.name + ` c "" <>`, "Sync " + n.name + ` d "" <>`}
	r.hasEvents(t, want...)
	n.create(t, "b")
	want = append(want, "Added "+n.name+` b "" <>`)
	r.hasEvents(t, want...)
	n.patch(t, "a", `{"data":{"x":"1"}}`)
	want = append(want, "Updated "+n.name+" a 1 <1>")
	r.hasEvents(t, want...)
	n.delete(t, "b")
	r.hasEvents(t, append(want, "Deleted "+n.name+` b "" <>`)...)
	assert.Equal(t, 0, r.end())
	assert.Empty(t, r.stderr.String())

	// # TIME TYPE VERSION<TAB>command
	object, err := n.Client.CoreV1().ConfigMaps(n.name).Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	var line string
	for line = range strings.Lines(r.stdout.String()) {
		if strings.Contains(line, "Updated") {
			break
		}
	}
	when, rest, _ := strings.Cut(strings.TrimPrefix(line, "# "), " ")
	at, err := time.Parse(time.RFC3339, when)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), at, testcluster.TestTimeout)
	assert.Equal(t, "Updated "+object.ResourceVersion+"\t"+n.name+" a 1 <1>\n", rest)
}

func aCommandAndItsVariables(t *testing.T, n *namespace) {
	n.create(t, "a")
	n.patch(t, "a", `{"data":{"x":"two words"}}`)
	command := script(t, `echo "$TYPE: $*"; echo "$OBJECT"`)
	stdout, stderr := runToEnd(t, 0, n.args("configmaps", "--once", "-a", "{.data.x}", "-a", "", "-a", "{.data.y}", "-a", "last",
		"--type-env-var=TYPE", "--object-env-var=OBJECT", "--", command, "its own")...)
	lines := strings.Split(stdout, "\n")
	require.Len(t, lines, 6)
	lines = lines[1:] // Sync started
	assert.True(t, strings.HasSuffix(lines[0], "\t"+command+` "its own" `+n.name+` a "two words" "" last`), lines[0])
	assert.Equal(t, "Sync: its own "+n.name+" a two words  last", lines[1])

	object, err := n.Client.CoreV1().ConfigMaps(n.name).Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.JSONEq(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","data":{"name":"a","x":"two words"},"metadata":{"name":"a","namespace":%q,"uid":%q,"resourceVersion":%q,"creationTimestamp":%q}}`,
		n.name, object.UID, object.ResourceVersion, object.CreationTimestamp.UTC().Format(time.RFC3339)), lines[2])
	assert.Empty(t, stderr)
}

func typesOfAllSorts(t *testing.T, n *namespace) {
	n.create(t, "a")
	for _, name := range []string{"configmaps", "configmap", "cm", "ConfigMap", "configmaps.v1."} {
		stdout, _ := runToEnd(t, 0, n.args(name, "--once")...)
		assert.Equal(t, []string{"Sync " + n.name + " a"}, events(stdout), name)
	}
	stdout, _ := runToEnd(t, 0, n.args("deployments.apps", "--once")...)
	assert.Contains(t, stdout, "found no deployments.apps in namespace "+n.name+"\n")
}

func withoutNamespaces(t *testing.T, n *namespace) {
	stdout, _ := runToEnd(t, 0, n.args("namespaces", "--once", "-l", "kubernetes.io/metadata.name="+n.name, "--", "echo", "its own")...)
	assert.Equal(t, []string{`Sync echo "its own" ` + n.name}, events(stdout))
	assert.Contains(t, stdout, "\nits own "+n.name+"\n")

	names := script(t, "echo never-was")
	stdout, _ = runToEnd(t, 0, n.args("namespaces", "--once", "-l", "no=such", "--names", names, "--delete", "true")...)
	assert.Equal(t, []string{"Deleted true never-was"}, events(stdout))
}

func nothingIsThere(t *testing.T, n *namespace) {
	stdout, _ := runToEnd(t, 0, n.args("configmaps", "--once")...)
	assert.Regexp(t, `^# \S+ Sync started\n# \S+ Sync found no configmaps in namespace `+n.name+`\n# \S+ Sync ended\n$`, stdout)
	stdout, _ = runToEnd(t, 0, n.args("configmaps", "--once", "-A", "-l", "no=such")...)
	assert.Regexp(t, `\n# \S+ Sync found no configmaps\n`, stdout)
}

// silentEnd needs a process, because in the other tests logs are discarded.
func silentEnd(t *testing.T, n *namespace) {
	for range 5 { // the end comes before, while or after the watch is opened
		p := startProcess(t, "observe", n.args("configmaps", "--once")...)
		require.NoError(t, p.wait())
		assert.Empty(t, p.stderr.String())
	}
	p := startProcess(t, "observe", n.args("configmaps", "--as=jim")...)
	require.Error(t, p.wait())
	assert.Equal(t, 1, strings.Count(p.stderr.String(), "\n"), p.stderr.String())
}

func aSelector(t *testing.T, n *namespace) {
	n.create(t, "a", "b")
	n.patch(t, "a", `{"metadata":{"labels":{"app":"demo"}}}`)
	r := start(t, n.args("configmaps", "-l", "app=demo")...)
	r.hasEvents(t, "Sync "+n.name+" a")
	n.patch(t, "b", `{"metadata":{"labels":{"app":"demo"}}}`)
	r.hasEvents(t, "Sync "+n.name+" a", "Added "+n.name+" b")
	n.patch(t, "a", `{"metadata":{"labels":{"app":"other"}}}`)
	r.hasEvents(t, "Sync "+n.name+" a", "Added "+n.name+" b", "Deleted "+n.name+" a")
	assert.Equal(t, 0, r.end())
}

// diary is what a script has handled: a file for each object. So a test can compare
// it with what the server has.
type diary struct{ dir string }

func newDiary(t testing.TB) diary { return diary{t.TempDir()} }

// args are the flags that make observe keep it.
func (d diary) args(t testing.TB) []string {
	write := script(t, fmt.Sprintf(`echo "$3" >%s/"$2"`, d.dir))
	remove := script(t, fmt.Sprintf(`rm -f %s/"$2"`, d.dir))
	names := script(t, fmt.Sprintf(`ls %s`, d.dir))
	return []string{"configmaps", "-a", "{.metadata.uid}@{.metadata.resourceVersion}", "--names", names, "--delete", remove, "--", write}
}

func (d diary) entries(t testing.TB) map[string]string {
	entries := map[string]string{}
	files, err := os.ReadDir(d.dir)
	require.NoError(t, err)
	for _, file := range files {
		entries[file.Name()] = strings.TrimSpace(content(filepath.Join(d.dir, file.Name())))
	}
	return entries
}

// isTrue waits until the diary has what the server has.
func (d diary) isTrue(t testing.TB, n *namespace, what func() string) {
	t.Helper()
	list, err := n.Client.CoreV1().ConfigMaps(n.name).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	want := map[string]string{}
	for _, object := range list.Items {
		want[object.Name] = fmt.Sprintf("%s@%s", object.UID, object.ResourceVersion)
	}
	eventually(t, func() bool { return assert.ObjectsAreEqual(want, d.entries(t)) }, func() string {
		return fmt.Sprintf("want %v\ngot %v\n%s", want, d.entries(t), what())
	})
}

func deletedWhileDown(t *testing.T, n *namespace) {
	d := newDiary(t)
	n.create(t, "stays", "goes", "changes", "again")
	args := n.args(append([]string{"--once"}, d.args(t)...)...)
	runToEnd(t, 0, args...)
	d.isTrue(t, n, func() string { return "after the first run" })

	n.delete(t, "goes")
	n.delete(t, "again")
	n.patch(t, "changes", `{"data":{"x":"1"}}`)
	n.create(t, "comes", "again")
	stdout, _ := runToEnd(t, 0, args...)
	d.isTrue(t, n, func() string { return stdout })
	assert.Regexp(t, `(?m)^# \S+ Deleted -\t\S+ `+n.name+` goes @$`, stdout, "of a name that is left, only the name is known")
	assert.Equal(t, 1, strings.Count(stdout, "Deleted"))
}

func outsideOfTheScope(t *testing.T, n *namespace) {
	other := newNamespace(t, n.Cluster)
	n.create(t, "ours", "not-selected")
	n.patch(t, "ours", `{"metadata":{"labels":{"app":"demo"}}}`)
	names := script(t, fmt.Sprintf("echo ours; echo not-selected; echo %s/gone; echo %s/elsewhere", n.name, other.name))
	// Not even a strict template needs more than the name of what is gone.
	args := n.args("configmaps", "--once", "-l", "app=demo", "--names", names, "--delete", "true", "--strict-templates", "-a", "{.data.name}")
	stdout, _ := runToEnd(t, 0, args...)
	assert.Equal(t, []string{"Sync " + n.name + " ours ours", "Deleted true " + n.name + ` gone ""`}, events(stdout))
}

func namesMustWork(t *testing.T, n *namespace) {
	for body, want := range map[string]string{
		"echo broken >&2; exit 3":         "broken\nerror: --names failed: %s: exit status 3; it must end with exit code 0, even when there is nothing to print\n",
		"echo No resources found; exit 0": "error: --names failed: --names printed \"No resources found\"; for configmaps in namespace " + n.name + " each line must be NAMESPACE/NAME, or NAME where there is one namespace or none; it must end with exit code 0, even when there is nothing to print\n",
	} {
		names := script(t, body)
		_, stderr := runToEnd(t, 1, n.args("configmaps", "--once", "--names", names, "--delete", "true")...)
		assert.Equal(t, strings.ReplaceAll(want, "%s", names), stderr)
	}
}

func whatNoCommandCanBeGiven(t *testing.T, n *namespace) {
	n.create(t, "big", "nul", "other")
	n.patch(t, "big", `{"data":{"big":"`+strings.Repeat("x", 200<<10)+`"}}`)
	n.patch(t, "nul", `{"data":{"nul":"a\u0000b"}}`)
	r := start(t, n.args("configmaps", "--maximum-errors=1", "-a", "{.data.nul}", "--object-env-var=OBJECT", "--delete=true", "--", "true")...)
	want := []string{"Sync true " + n.name + ` big ""`, "Sync true " + n.name + ` nul "a\x00b"`, "Sync true " + n.name + ` other ""`}
	r.hasEvents(t, want...)
	// It is tried again when it has changed.
	n.patch(t, "nul", `{"data":{"nul":"ab"}}`)
	want = append(want, "Sync true "+n.name+" nul ab")
	r.hasEvents(t, want...)
	// And for its deletion a command runs in any case.
	n.delete(t, "big")
	deleted := "Deleted true " + n.name + ` big ""`
	r.hasEvents(t, append(want, deleted, deleted)...)
	assert.Equal(t, 0, r.end())
	assert.Empty(t, r.stderr.String())
}

func onceEndsWithFailures(t *testing.T, n *namespace) {
	n.create(t, "a", "b")
	n.patch(t, "b", `{"data":{"x":"1"}}`)
	stdout, stderr := runToEnd(t, 1, n.args("configmaps", "--once", "--strict-templates", "-a", "{.data.x}")...)
	assert.Equal(t, []string{"Sync " + n.name + " b 1"}, events(stdout))
	assert.Equal(t, "error: 1 failed; the last was "+n.name+`/a: rendering the template "{.data.x}": x is not found; fix that, and run observe again`+"\n", stderr)

	stdout, stderr = runToEnd(t, 1, n.args("configmaps", "--once", "--retry-count=1", "--", "false")...)
	a, b := "Sync false "+n.name+" a", "Sync false "+n.name+" b"
	assert.Equal(t, []string{a, b, a, b}, events(stdout))
	assert.Equal(t, "error: 2 failed; the last was "+n.name+"/b: false: exit status 1; fix that, and run observe again\n", stderr)

	for i := range 21 {
		n.create(t, fmt.Sprint("more-", i))
	}
	_, stderr = runToEnd(t, 1, n.args("configmaps", "--once", "--retry-count=0", "--", "false")...)
	assert.Contains(t, stderr, "error: 23 failed", "--maximum-errors is for a program that goes on")
}

func aRetryHasAHeader(t *testing.T, n *namespace) {
	n.create(t, "a")
	command := script(t, "exit 75")
	args := n.args("configmaps", "--once", "--retry-on-exit-code=75", "--retry-count=1")
	stdout, stderr := runToEnd(t, 1, append(args, "--", command)...)
	assert.Regexp(t, `^# \S+ Sync started
# \S+ Sync \d+\t`+command+" "+n.name+` a
# \S+ Retry 1 of 1: `+command+`: exit status 75
# \S+ Sync ended
$`, stdout, "and not twice as often, because of --once")
	assert.Equal(t, "error: 1 failed; the last was "+n.name+"/a: "+command+": exit status 75, also when run again; fix that, and run observe again\n", stderr)
	stdout, _ = runToEnd(t, 1, append(args, "-q", "--", command)...)
	assert.Empty(t, stdout)
}

func replaysEverything(t *testing.T, n *namespace) {
	n.create(t, "a")
	r := start(t, n.args("configmaps", "--resync-period=100ms")...)
	eventually(t, func() bool { return len(events(r.stdout.String())) >= 3 }, r.stdout.String)
	assert.Equal(t, 0, r.end())
	for _, event := range events(r.stdout.String()) {
		assert.Equal(t, "Sync "+n.name+" a", event)
	}
}

func endsAfterAWhile(t *testing.T, n *namespace) {
	_, stderr := runToEnd(t, 0, n.args("configmaps", "--exit-after=1s")...)
	assert.Empty(t, stderr)
}

// slow is a command that leaves a file when it has begun, and then waits to be let go.
type slow struct{ begun, letGo, ended, command string }

func newSlow(t testing.TB) slow {
	dir := t.TempDir()
	s := slow{begun: filepath.Join(dir, "begun"), letGo: filepath.Join(dir, "let-go"), ended: filepath.Join(dir, "ended")}
	s.command = script(t, fmt.Sprintf("echo $$ >%[1]s.new; mv %[1]s.new %[1]s; while ! test -e %[2]s; do sleep 0.01; done; echo >%[3]s", s.begun, s.letGo, s.ended))
	return s
}

func (s slow) hasBegun(t testing.TB, what func() string) {
	t.Helper()
	eventually(t, func() bool { return content(s.begun) != "" }, what)
}

func aSignalLetsAChildFinish(t *testing.T, n *namespace) {
	n.create(t, "a", "b")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		s := newSlow(t)
		watching := n.throughProxy(t)
		p := startProcess(t, "observe", n.args("configmaps", "--", s.command)...)
		s.hasBegun(t, p.output)
		eventually(t, func() bool { return watching.Load() == 1 }, p.output)
		require.NoError(t, p.Process.Signal(signal))
		// A busy machine takes its time to deliver a signal. With it, the watch ends.
		eventually(t, func() bool { return watching.Load() == 0 }, p.output)
		require.NoError(t, os.WriteFile(s.letGo, nil, 0o600))
		require.NoError(t, p.wait(), p.output())
		assert.FileExists(t, s.ended)
		assert.Empty(t, p.stderr.String())
		assert.Len(t, events(p.stdout.String()), 1, "and no other was started")
	}
}

// throughProxy makes the next programs reach the server through a proxy, which knows
// how many of their watches are open.
func (n *namespace) throughProxy(t *testing.T) (watching *atomic.Int32) {
	t.Helper()
	target, err := url.Parse(n.Config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(n.Config)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // at once: a watch never ends by itself
	}
	watching = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			watching.Add(1)
			defer watching.Add(-1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	n.server = server.URL
	return watching
}

func aSecondSignalKills(t *testing.T, n *namespace) {
	n.create(t, "a")
	s := newSlow(t)
	p := startProcess(t, "observe", n.args("configmaps", "--", s.command)...)
	s.hasBegun(t, p.output)
	pid := strings.TrimSpace(content(s.begun))
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Error(t, p.wait())
	assert.Equal(t, 1, p.ProcessState.ExitCode())
	assert.Equal(t, "error: interrupted: "+s.command+": killed before it had ended\n", p.stderr.String())
	assert.False(t, alive(t, pid))
}

func metricsAndHealth(t *testing.T, n *namespace) {
	n.create(t, "a", "b")
	r, address := n.startMonitored(t, "configmaps", "--", "true")
	eventually(t, func() bool {
		return strings.Contains(get(t, address, "/metrics"), `observe_command_duration_seconds_count{exit_code="0",type="Sync"} 2`)
	}, func() string { return get(t, address, "/metrics") })
	assert.Contains(t, get(t, address, "/metrics"), "\nobserve_events_total{type=\"Sync\"} 2\n")
	assert.Equal(t, 0, r.end())
	assert.Equal(t, "no answer", get(t, address, "/healthz"))
}

// startMonitored starts an observe with a monitor, and waits until it is healthy.
// Another program may be faster to take the address that was free: then it gets
// another one.
func (n *namespace) startMonitored(t *testing.T, args ...string) (r *running, address string) {
	t.Helper()
	for {
		address = freeAddress(t)
		r = start(t, n.args(append([]string{"--listen-addr=" + address}, args...)...)...)
		eventually(t, func() bool { return len(r.code) > 0 || get(t, address, "/healthz") == "200 ok\n" }, r.stderr.String)
		if len(r.code) == 0 {
			return r, address
		}
		require.Contains(t, r.stderr.String(), "address already in use")
	}
}

func metricsAtTheEnd(t *testing.T, n *namespace) {
	n.create(t, "a")
	names := script(t, "echo gone")
	for code, command := range []string{"true", "false"} {
		stdout, _ := runToEnd(t, code, n.args("configmaps", "--once", "-q", "--print-metrics-on-exit", "--maximum-errors=1", "--names", names, "--delete", "true", "--", command)...)
		assert.Contains(t, stdout, "\nobserve_events_total{type=\"Deleted\"} 1\n")
		assert.Contains(t, stdout, "\nobserve_command_duration_seconds_count{exit_code=\"0\",type=\"Names\"} 1\n")
		assert.Contains(t, stdout, fmt.Sprintf("\nobserve_command_duration_seconds_count{exit_code=\"%d\",type=\"Sync\"} 1\n", code))
	}
}

func aPortInUse(t *testing.T, n *namespace) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	_, stderr := runToEnd(t, 1, n.args("configmaps", "--listen-addr="+address)...)
	assert.Equal(t, "error: --listen-addr: listen tcp "+address+": bind: address already in use; choose another address, or turn it off with --listen-addr=''\n", stderr)
}

func cannotBeObserved(t *testing.T, n *namespace) {
	for args, want := range map[string]string{
		"moons":                     `the server doesn't have a resource type "moons"`,
		"moons.example.com":         `the server doesn't have a resource type "moons" in group "example.com"`,
		"subjectaccessreviews":      "the server does not allow this method on the requested resource",
		"componentstatuses -q":      `watch is not supported on resources of kind "componentstatuses"`,
		"configmaps -l a=b=c":       `found '=', expected: ',' or 'end of string'`,
		"configmaps --context=moon": `context "moon" does not exist`,
	} {
		stdout, stderr := runToEnd(t, 1, n.args(strings.Fields(args)...)...)
		assert.Equal(t, "error: "+want+"\n", stderr)
		assert.Empty(t, stdout)
	}

	_, stderr := runToEnd(t, 1, n.args("configmaps", "--server=https://127.0.0.1:1")...)
	assert.Regexp(t, `^error: Get "https://127.0.0.1:1/\S+": dial tcp 127.0.0.1:1: connect: connection refused\n$`, stderr)
}

func forbidden(t *testing.T, n *namespace) {
	for _, verbs := range [][]string{{"get"}, {"list"}, {"list", "watch"}} {
		user := n.name + strings.Join(verbs, "")
		n.User(t, user, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: verbs}})
		args := n.args("configmaps", "--as", user)
		if len(verbs) == 2 {
			runToEnd(t, 0, append(args, "--once")...)
			continue
		}
		_, stderr := runToEnd(t, 1, args...)
		refused := func(verb string) string {
			return fmt.Sprintf("error: configmaps is forbidden: User %q cannot %s resource \"configmaps\" in API group \"\" in the namespace %q\n", user, verb, n.name)
		}
		possible := []string{refused("watch")} // an informer would go on trying to watch
		if verbs[0] == "get" {
			possible = append(possible, refused("list")) // whichever comes first
		}
		assert.Contains(t, possible, stderr)
	}
}
