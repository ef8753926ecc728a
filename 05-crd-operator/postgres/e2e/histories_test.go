package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/05-crd-operator/postgres/recorder"
)

// What make chaos sets. Without it, the seeds are some whose faults hit the operator, the API server, a
// label, a disk, the backups and the primary.
var (
	histories = flag.Int("histories", 3, "how many histories TestHistories records")
	firstSeed = flag.Uint64("seed", usualSeed, "the seed of the first one; each other one has the next seed")
)

const usualSeed = 36

// TestHistories records one history after the other of a cluster that is broken at random, and has
// each of them judged. A seed decides what goes wrong, and what the clients do.
func TestHistories(t *testing.T) {
	require.Positive(t, *histories, "--histories")
	require.Empty(t, flag.Args(), "there are --histories and --seed, and nothing else")
	c := newChaos(t, 3)
	for n := range *histories {
		seed := *firstSeed + uint64(n)
		good := t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { c.record(t, seed) })
		if !good && n+1 < *histories {
			c.logEverything()
			c.kubectl("delete", "postgrescluster", name, "--wait=false")
			c = newChaos(t, 3) // that one may be beyond repair
		}
	}
	c.deleteCluster()
}

// chaos is a cluster to be broken, and what its clients know of it.
type chaos struct {
	*env
	watcher           *watcher
	superuser, app    dialer
	address, standbys string // of its Services
	known             map[role]victim
}

func newChaos(t testing.TB, size int32) *chaos {
	t.Helper()
	c := &chaos{env: newEnv(t)}
	c.create(name, postgres.PostgresClusterSpec{Size: size, Backup: &postgres.Backup{
		Schedule: "@every 24h", Keep: 2, Storage: resource.MustParse("1Gi"), ArchiveTimeout: metav1.Duration{Duration: time.Minute}, OnDelete: postgres.Delete,
	}})
	c.settles()
	c.kubectl("wait", "postgrescluster", name, "--for=condition=BackedUp", timeout)
	c.superuser, c.app = c.newDialer(), c.newDialerOf("app", name, name+"-app")
	c.superuser.database, c.app.database = "app", "app"
	c.address, c.standbys = c.primaryAddress(), c.addressOf(name+"-ro")
	c.watcher = c.startWatcher()
	return c
}

// record records a history, in a test of its own.
func (c *chaos) record(t *testing.T, seed uint64) {
	defer func(tb testing.TB) { c.TB = tb }(c.TB)
	c.TB = t
	r := c.startRecorder(seed, nil)
	c.goesOn(r)
	if disaster := planDisaster(seed); disaster != nil {
		t.Logf("seed %d: %s", seed, disaster.what)
		disaster.happens(c, r)
	} else {
		plan := planFaults(seed)
		t.Logf("seed %d: %v", seed, plan)
		c.breaks(plan)
	}
	found := c.judge(r)
	for _, a := range found {
		assert.Fail(t, string(a.Kind), "%s", a)
	}
}

// startRecorder starts clients. They have these settings of a session, if any.
func (c *chaos) startRecorder(seed uint64, settings map[string]string) *recorder.Recorder {
	c.Helper()
	o := recorder.Options{Seed: seed}
	var err error
	o.Primary, err = c.app.config(c.address)
	require.NoError(c, err)
	o.Standbys, err = c.app.config(c.standbys)
	require.NoError(c, err)
	maps.Copy(o.Primary.RuntimeParams, settings)
	r := recorder.Start(o)
	c.Cleanup(r.Stop)
	return r
}

// goesOn waits until all writers can have had a commit acknowledged that has begun since.
func (c *chaos) goesOn(r *recorder.Recorder) {
	c.Helper()
	before := r.Acknowledged()
	eventually(c, "commits are acknowledged", func() error {
		if n := r.Acknowledged(); n < before+20 {
			return fmt.Errorf("%d were", n-before)
		}
		return nil
	})
}

// judge waits until the cluster is as it should be, and returns the anomalies in what its clients
// have seen. If there are any, the history is kept.
func (c *chaos) judge(r *recorder.Recorder) []history.Anomaly {
	c.Helper()
	c.watcher.sees(c.settles().PrimaryUID)
	c.goesOn(r)
	r.Stop()
	eventually(c, "all members can be read", func() error {
		ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second) // luck: a try of many
		defer cancel()
		members, err := c.members()
		if err != nil {
			return err
		}
		return r.ReadFinal(ctx, members...)
	})
	h := r.History()
	found := history.Judge(h)
	c.Log(history.Summary(h, found))
	if len(found) > 0 {
		file, err := os.Create(filepath.Join(c.ArtifactDir(), "history.jsonl"))
		require.NoError(c, err)
		defer file.Close()
		require.NoError(c, h.Write(file))
		c.Logf("the history is in %s", file.Name())
	}
	return found
}

// members are those of the cluster, the primary first.
func (c *chaos) members() (members []recorder.Member, err error) {
	cluster, err := c.cluster()
	if err != nil {
		return nil, err
	}
	if err := settled(cluster); err != nil {
		return nil, err
	}
	addresses := map[string]string{}
	for _, m := range cluster.Status.Members {
		addresses[m.Name] = m.Address
	}
	for _, name := range append([]string{cluster.Status.Primary}, standbys(cluster.Status)...) {
		config, err := c.app.config(addresses[name])
		if err != nil {
			return nil, err
		}
		members = append(members, recorder.Member{Name: name, Config: config})
	}
	return members, nil
}

// TestAsynchronousCommitsAreSeen has commits acknowledged that are on one disk, and has the judge see that
// they are lost.
func TestAsynchronousCommitsAreSeen(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	c := newChaos(t, 2)
	for what, tc := range map[string]struct {
		role    string
		session map[string]string
	}{
		"a setting of a session": {session: map[string]string{"synchronous_commit": "local"}},
		"a setting of the role":  {role: "ALTER ROLE app SET synchronous_commit = local"},
	} {
		c.Log(what)
		if tc.role != "" {
			_, err := c.ask(tc.role)
			require.NoError(t, err)
		}
		r := c.startRecorder(1, tc.session)
		c.goesOn(r)
		c.losesPrimaryWhileFrozen(func() { c.goesOn(r) })
		kinds := map[history.Kind]int{}
		for _, a := range c.judge(r) {
			kinds[a.Kind]++
		}
		assert.NotZero(t, kinds[history.Lost], "%v", kinds)
	}
	c.deleteCluster()
}

// losesPrimaryWhileFrozen has the synced standby receive nothing, waits for what commits do then, and kills
// the primary.
func (c *chaos) losesPrimaryWhileFrozen(wait func()) {
	c.Helper()
	before := c.settles()
	thaw, err := c.freezeReceiver(c.pods()[before.Standby])
	require.NoError(c, err)
	defer thaw()
	// The receiver may still take what is in the buffers of the connection. This is more.
	_, err = c.ask("SET synchronous_commit = local; SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000000)) FROM generate_series(1, 16)")
	require.NoError(c, err)
	wait()
	require.NoError(c, c.killPostgreSQL(before.PrimaryUID))
	eventually(c, "there is an election", func() error {
		if now := c.status(); now.Term == before.Term {
			return errors.New("there is none")
		}
		return nil
	})
}

// ask asks the primary, as the superuser.
func (c *chaos) ask(command string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second) // luck: a try of many
	defer cancel()
	s, err := c.superuser.dial(ctx, c.address)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.query(ctx, command)
}
