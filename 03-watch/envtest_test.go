package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// runMain makes the test binary be watch: a signal can only be sent to a process.
const runMain = "WATCH_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
		os.Exit(0)
	}
	testcluster.Main(m)
}

func create(t testing.TB, c *testcluster.Cluster, label string, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := c.Client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": label}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

func modify(t *testing.T, c *testcluster.Cluster, name string) {
	t.Helper()
	_, err := c.Client.CoreV1().Pods("default").Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"tone":"high"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
}

func remove(t *testing.T, c *testcluster.Cluster, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, c.Client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
}

// start runs the program until the test ends, and returns what it prints.
func start(t *testing.T, config *rest.Config, o options) *testcluster.Output {
	t.Helper()
	out := &testcluster.Output{}
	testcluster.Run(t, func(ctx context.Context) error {
		err := run(ctx, config, o, out)
		if err != nil {
			fmt.Fprintln(out, "error:", err) // a test that waits for a line sees it
		}
		return err
	})
	return out
}

// changes are the lines that report one, without the notes and the requests.
func changes(out *testcluster.Output) (lines []string) {
	for _, line := range out.Lines() {
		if strings.Contains(line, " pod ") && !strings.ContainsAny(line[:1], "#<>") {
			lines = append(lines, strings.TrimSuffix(line, " in namespace default"))
		}
	}
	return lines
}

// waitUntil waits for what the program is to do, as long as it runs.
func waitUntil(t *testing.T, done func() bool, out *testcluster.Output) {
	t.Helper()
	assert.Eventually(t, func() bool { return done() || strings.Contains("\n"+out.String(), "\nerror: ") }, testcluster.TestTimeout, 20*time.Millisecond)
	require.True(t, done(), "%s", out)
}

var sources = map[string]bool{"client-go": false, "raw": true}

func TestEachChangeIsPrinted(t *testing.T) {
	c := testcluster.Shared(t)
	create(t, c, "other", "unwatched")
	for name, raw := range sources {
		t.Run(name, func(t *testing.T) {
			create(t, c, name, name+"-bell")
			out := start(t, c.Config, options{selector: "test=" + name, raw: raw})
			waitUntil(t, func() bool { return len(changes(out)) == 1 }, out)
			create(t, c, name, name+"-buoy")
			modify(t, c, name+"-bell")
			remove(t, c, name+"-buoy")
			waitUntil(t, func() bool { return len(changes(out)) == 5 }, out)
			assert.Equal(t, []string{
				"ADDED pod " + name + "-bell", "ADDED pod " + name + "-buoy", "MODIFIED pod " + name + "-bell",
				"MODIFIED pod " + name + "-buoy", "DELETED pod " + name + "-buoy", // it's marked first
			}, changes(out))
			assert.Equal(t, raw, strings.Contains(out.String(), "> GET /api/v1/pods?"))
		})
	}
}

func TestAUserWithoutRightsReadsWhatIsMissing(t *testing.T) {
	c := testcluster.Shared(t)
	for name, raw := range sources {
		err := run(t.Context(), c.User(t, "jane-"+name, nil), options{raw: raw}, io.Discard)
		require.EqualError(t, err, `listing the pods: pods is forbidden: User "jane-`+name+`" cannot list resource "pods" in API group "" at the cluster scope`)
	}
}

func TestCtrlCEndsTheProcessAndIsNoFailure(t *testing.T) {
	c := testcluster.Shared(t)
	create(t, c, "signal", "signal")
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	defer cancel()
	program := exec.CommandContext(ctx, os.Args[0], "-l", "test=signal", "-raw", "-runtime")
	program.Env = append(os.Environ(), runMain+"=1", "KUBECONFIG="+c.Kubeconfig)
	pipe, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	lines := bufio.NewScanner(pipe)
	for _, want := range []string{"> GET /api/v1/pods?labelSelector=test%3Dsignal", "< HTTP/", "ADDED pod signal in namespace default", "Pods in namespace default have been running for "} {
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), want)
	}
	require.NoError(t, program.Process.Signal(os.Interrupt))
	_, _ = io.Copy(io.Discard, pipe)
	require.NoError(t, program.Wait())
}

// there are the pods that somebody believes to be there who reads the lines and nothing else.
func there(out *testcluster.Output) []string {
	believed := map[string]bool{}
	for _, line := range changes(out) {
		what, pod, _ := strings.Cut(line, " pod ")
		if believed[pod] != (what != "ADDED") {
			return []string{"contradicts what was printed before: " + line}
		}
		if believed[pod] = true; what == "DELETED" {
			delete(believed, pod)
		}
	}
	return slices.Sorted(maps.Keys(believed))
}

func numbered(name string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s-%02d", name, i))
	}
	return names
}

func TestTheServerIsKilled(t *testing.T) {
	c := testcluster.Start(t)
	bells, buoys := numbered("bell", 30), numbered("buoy", 30)
	create(t, c, "killed", bells...)
	programs := map[string]*testcluster.Output{}
	for name, raw := range sources {
		out := start(t, c.Config, options{selector: "test=killed", raw: raw})
		waitUntil(t, func() bool { return len(there(out)) == 30 }, out)
		programs[name] = out
	}
	c.KillServer(t)
	assert.Eventually(t, func() bool {
		_, err := c.Client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		return err == nil
	}, testcluster.TestTimeout, 20*time.Millisecond)
	remove(t, c, bells[:20]...)
	create(t, c, "killed", buoys...)
	for name, out := range programs {
		waitUntil(t, func() bool { return slices.Equal(slices.Concat(bells[20:], buoys), there(out)) }, out)
		assert.Contains(t, out.String(), "\n# ", "%s: it must have noticed", name)
	}
}

// While the version is good, a client that was cut off misses nothing.
func TestTheConnectionIsDropped(t *testing.T) {
	c := testcluster.Shared(t)
	proxy, through := testcluster.StartProxy(t, c.Config)
	// Of a broken HTTP/2 connection, client-go now and then makes an ERROR event. A list skips steps.
	through.NextProtos = []string{"http/1.1"}
	for name, raw := range sources {
		label := "dropped-" + name
		create(t, c, label, label)
		out := start(t, through, options{selector: "test=" + label, raw: raw})
		waitUntil(t, func() bool { return len(changes(out)) == 1 }, out)
		want := []string{"ADDED pod " + label}
		for _, pod := range numbered(label, 40) {
			create(t, c, label, pod)
			modify(t, c, pod)
			proxy.Cut()
			remove(t, c, pod)
			want = append(want, "ADDED pod "+pod, "MODIFIED pod "+pod, "MODIFIED pod "+pod, "DELETED pod "+pod)
		}
		waitUntil(t, func() bool { return len(changes(out)) == len(want) }, out)
		assert.Equal(t, want, changes(out))
		assert.Contains(t, out.String(), "watching from version")
		assert.NotContains(t, out.String(), "listing in", "the version was never gone")
	}
}

func TestTheVersionIsGone(t *testing.T) {
	// Without its cache, the API server forwards a watch to etcd, which knows nothing of what came
	// before a compaction.
	c := testcluster.Start(t, "watch-cache-sizes=pods#0")
	proxy, through := testcluster.StartProxy(t, c.Config)
	for name, raw := range sources {
		bells, buoys := numbered(name+"-bell", 10), numbered(name+"-buoy", 10)
		create(t, c, name, bells...)
		out := start(t, through, options{selector: "test=" + name, raw: raw})
		waitUntil(t, func() bool { return len(there(out)) == 10 }, out)
		proxy.Refuse()
		remove(t, c, bells[:5]...)
		create(t, c, name, buoys...)
		c.Compact(t)
		proxy.Allow()
		waitUntil(t, func() bool { return slices.Equal(slices.Concat(bells[5:], buoys), there(out)) }, out)
		assert.Regexp(t, `# .*too old.*; listing in `, out.String())
	}
}

// BenchmarkRuntime measures the LIST that follows each event, in a namespace of so many pods.
func BenchmarkRuntime(b *testing.B) {
	c := testcluster.Start(b)
	made := 0
	for _, n := range []int{100, 1000, 10000} {
		for ; made < n; made++ {
			create(b, c, "many", fmt.Sprintf("pod-%d", made))
		}
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			for b.Loop() {
				printRuntime(b.Context(), c.Client, "default", io.Discard)
			}
		})
	}
}
