package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/trace"
)

var keep = flag.Bool("keep-traces", false, "write the recorded runs to plan/testdata, too")

// The real operator and real agents run a cluster, and what they do is recorded. The model, which
// has no PostgreSQL and no time, must be able to do the same.
func TestRecordedRunsAreRunsOfTheModel(t *testing.T) {
	folder := t.ArtifactDir()
	for name, run := range map[string]func(*recording){"switchover": switchover, "failover": failover} {
		t.Run(name, func(t *testing.T) {
			r := startRecording(t)
			defer r.operate()()
			run(r)
			r.save(filepath.Join(folder, name+".jsonl"))
		})
	}
	check := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^TestRecordedRuns$", "../../plan", "-args", "-traces", folder)
	output, err := check.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// switchover is a cluster of three that begins, and another primary that a person wants.
func switchover(r *recording) {
	r.create(3)
	r.isWell("db-1")
	r.commits(1)
	r.wants("db-2")
	r.isWell("db-2")
	r.reads("db-2")
	r.commits(2)
}

// failover is a cluster of two that loses both members when the primary has a commit that the standby
// has not. The standby comes back first, and then the database of the other one is made again.
func failover(r *recording) {
	r.create(2)
	r.isWell("db-1")
	r.commits(1)
	first, second := r.agents["db-1"], r.agents["db-2"]
	receiver, err := strconv.Atoi(second.sql("SELECT pid FROM pg_stat_wal_receiver")[0])
	require.NoError(r, err)
	require.NoError(r, syscall.Kill(receiver, syscall.SIGSTOP))
	r.begins()
	first.waits(first.inserts("0"))
	second.killAll() // or its receiver would find the commit in its socket
	first.killAll()
	r.down = "db-1"
	r.until("db-2 leads", func(c *postgres.PostgresCluster) bool {
		return c.Status.Phase == postgres.Running && c.Status.Primary == "db-2"
	})
	r.down = ""
	r.isWell("db-2")
	require.True(r, r.logged("db-1", `step="Wipe"`), "db-1 is made again")
	r.reads("db-2")
	r.commits(2)
}

// recording is a cluster whose run is recorded.
type recording struct {
	*env
	begun, acknowledged int // commits of clients

	mu     sync.Mutex
	events []trace.Event
	pods   map[types.UID]trace.Pod
	holder types.UID
	last   []byte // of the cluster
}

func startRecording(t *testing.T) *recording {
	t.Helper()
	r := &recording{env: newNamespace(t), pods: map[types.UID]trace.Pod{}}
	r.flags = []string{"--trace", filepath.Join(r.folder, "trace")}
	for _, list := range []client.ObjectList{&postgres.PostgresClusterList{}, &coordinationv1.LeaseList{}, &corev1.PodList{}} {
		w, err := r.client.Watch(t.Context(), list, client.InNamespace(r.namespace))
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for event := range w.ResultChan() {
				r.note(event)
			}
		}()
		t.Cleanup(func() { w.Stop(); <-done })
	}
	return r
}

// note notes what was written to the API server, if a decision may depend on it.
func (r *recording) note(event watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := trace.Event{Time: time.Now()}
	switch o := event.Object.(type) {
	case *postgres.PostgresCluster:
		e.Cluster = &trace.Cluster{Size: o.Spec.Size, Primary: o.Spec.Primary, Status: trace.Decisive(o.Status)}
		now, err := json.Marshal(e.Cluster)
		if err != nil || bytes.Equal(now, r.last) {
			return
		}
		r.last = now
	case *coordinationv1.Lease:
		holder := types.UID(ptr.Deref(o.Spec.HolderIdentity, ""))
		if holder == r.holder || o.Name != "db" {
			return
		}
		e.Lease, r.holder = &trace.Lease{Holder: holder}, holder
	case *corev1.Pod:
		ended := len(o.Status.ContainerStatuses) > 0 && o.Status.ContainerStatuses[0].State.Terminated != nil
		p := trace.Pod{Name: o.Name, UID: o.UID, Deleting: o.DeletionTimestamp != nil, Ended: ended, Gone: event.Type == watch.Deleted}
		if p == r.pods[o.UID] {
			return
		}
		e.Pod, r.pods[o.UID] = &p, p
	default:
		return
	}
	e.Version, _ = strconv.ParseUint(event.Object.(client.Object).GetResourceVersion(), 10, 64)
	r.events = append(r.events, e)
}

func (r *recording) noteClient(c trace.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, trace.Event{Time: time.Now(), Client: &c})
}

func (r *recording) create(size int32) {
	r.Helper()
	cluster := &postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "db"}, Spec: postgres.PostgresClusterSpec{Size: size}}
	require.NoError(r, r.client.Create(r.Context(), cluster))
}

func (r *recording) wants(primary string) {
	r.Helper()
	cluster := &postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "db"}}
	require.NoError(r, r.client.Patch(r.Context(), cluster, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"primary":"`+primary+`"}}`))))
}

// isWell waits until this member is the primary, and all others stand by.
func (r *recording) isWell(primary string) {
	r.Helper()
	r.until(primary+" leads", func(c *postgres.PostgresCluster) bool {
		s := c.Status
		if s.Phase != postgres.Running || s.Primary != primary || len(s.Synced) != 2 || s.Replicas != c.Spec.Size {
			return false
		}
		report, err := r.agents[primary].report()
		return err == nil && len(report.Streaming) == int(c.Spec.Size)-1
	})
}

// commits has a client commit a row.
func (r *recording) commits(row int) {
	r.Helper()
	command := "INSERT INTO rows VALUES (" + strconv.Itoa(row) + ")"
	if row == 1 {
		command = createRows
	}
	r.begins()
	r.primary().sql(command)
	r.acknowledged++
	r.noteClient(trace.Client{Acknowledged: r.acknowledged})
}

func (r *recording) begins() {
	r.begun++
	r.noteClient(trace.Client{Begun: r.begun})
}

// reads has a client count the rows.
func (r *recording) reads(member string) {
	r.Helper()
	r.noteClient(trace.Client{Member: member, Reads: len(r.agents[member].sql("SELECT n FROM rows WHERE n > 0"))})
}

// save writes the events by time; those of the API server are in their own order.
func (r *recording) save(path string) {
	r.Helper()
	file, err := os.Open(filepath.Join(r.folder, "trace"))
	require.NoError(r, err)
	defer file.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	events := slices.Clone(r.events)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e trace.Event
		require.NoError(r, json.Unmarshal(lines.Bytes(), &e))
		events = append(events, e)
	}
	slices.SortFunc(events, func(a, b trace.Event) int { return a.Time.Compare(b.Time) })
	written := slices.DeleteFunc(slices.Clone(events), func(e trace.Event) bool { return e.Version == 0 })
	slices.SortFunc(written, func(a, b trace.Event) int { return cmp.Compare(a.Version, b.Version) })
	var out strings.Builder
	for _, e := range events {
		if e.Version != 0 {
			e, written = written[0], written[1:]
		}
		line, err := json.Marshal(e)
		require.NoError(r, err)
		out.Write(append(line, '\n'))
	}
	paths := []string{path}
	if *keep {
		paths = append(paths, filepath.Join("..", "..", "plan", "testdata", filepath.Base(path)))
	}
	for _, path := range paths {
		require.NoError(r, os.WriteFile(path, []byte(out.String()), 0o600))
	}
}
