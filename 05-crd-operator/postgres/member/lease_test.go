package member

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// record is a Lease on a server.
type record struct {
	sync.Mutex
	content resourcelock.LeaderElectionRecord
	version int
}

// lock is a member's client of it.
type lock struct {
	resourcelock.Interface
	*record
	read   int    // the version that it read last
	before func() // before a read
	first  func() // before an update
	then   func() // after an update
	down   bool
}

func (l *lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if l.before != nil {
		l.before()
	}
	if l.down {
		return nil, nil, errors.New("the server is down")
	}
	l.Lock()
	defer l.Unlock()
	l.read = l.version
	return new(l.content), nil, nil
}

func (l *lock) Update(_ context.Context, content resourcelock.LeaderElectionRecord) error {
	if l.first != nil {
		l.first()
	}
	if l.down {
		return errors.New("the server is down")
	}
	if l.then != nil {
		defer l.then()
	}
	l.Lock()
	defer l.Unlock()
	if l.read != l.version {
		return apierrors.NewConflict(schema.GroupResource{}, "db", nil)
	}
	l.version++
	l.read, l.content = l.version, content
	return nil
}

// free is what the operator does.
func (r *record) free() { r.content.HolderIdentity, r.version = "", r.version+1 }

// leases runs a test with the leases of two members on one record. Time passes in it only
// when it waits.
func leases(t *testing.T, test func(t *testing.T, a, b *lease)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := &record{}
		of := func(holder types.UID) *lease {
			return &lease{holder: holder, lock: &lock{record: server}, lapsed: func() {}}
		}
		test(t, of("a"), of("b"))
	})
}

// elapse lets time pass.
func elapse(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestLeaseLapsesWhenItIsNotRenewed(t *testing.T) {
	leases(t, func(t *testing.T, a, _ *lease) {
		var lapsed atomic.Bool
		a.lapsed = func() { lapsed.Store(true) }
		require.NoError(t, a.take(t.Context(), 1))
		elapse(deadline - time.Second)
		require.NoError(t, a.renew(t.Context()))
		a.lock.(*lock).down = true
		elapse(deadline - time.Millisecond)
		require.Error(t, a.renew(t.Context()))
		assert.True(t, a.holds())
		assert.False(t, lapsed.Load())
		elapse(time.Millisecond)
		assert.False(t, a.holds())
		assert.True(t, lapsed.Load())
	})
}

func TestDeadlineBeginsWithTheRequest(t *testing.T) {
	leases(t, func(t *testing.T, a, _ *lease) {
		a.lock.(*lock).first = func() { elapse(4 * time.Second) } // it takes that long
		require.NoError(t, a.take(t.Context(), 1))
		elapse(deadline - 4*time.Second - time.Millisecond)
		assert.True(t, a.holds())
		elapse(time.Millisecond)
		assert.False(t, a.holds())
	})
}

func TestLeaseIsRenewedForAsLongAsTheAgentRuns(t *testing.T) {
	leases(t, func(t *testing.T, a, b *lease) {
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, a.take(ctx, 1))
		go a.run(ctx)
		elapse(time.Minute)
		assert.True(t, a.holds())
		require.ErrorIs(t, b.take(t.Context(), 1), errHeld)
		cancel()
		elapse(deadline)
		assert.False(t, a.holds())
	})
}

// The operator alone measures when it has run out.
func TestLeaseOfAnotherIsNotTaken(t *testing.T) {
	leases(t, func(t *testing.T, a, b *lease) {
		require.NoError(t, a.take(t.Context(), 1))
		require.ErrorIs(t, b.take(t.Context(), 1), errHeld)
		elapse(2 * plan.LeaseDuration)
		require.ErrorIs(t, b.take(t.Context(), 1), errHeld)
		a.lock.(*lock).free()
		require.NoError(t, b.take(t.Context(), 1))
	})
}

// A holder that cannot renew the Lease has to have killed its PostgreSQL when others may take it.
func TestHolderStopsBeforeTheLeaseRunsOut(t *testing.T) {
	assert.Less(t, deadline+killAfter, plan.LeaseDuration)
}

// An agent that does not see the newest status must not take the Lease that was freed for a newer one.
func TestLeaseOfANewerTermIsNotTaken(t *testing.T) {
	leases(t, func(t *testing.T, a, b *lease) {
		require.NoError(t, a.take(t.Context(), 3))
		require.NoError(t, a.renew(t.Context()))
		require.NoError(t, a.free(t.Context()))
		require.ErrorIs(t, b.take(t.Context(), 2), errNewer, "a holder that frees it leaves its term")
		assert.False(t, b.holds())
		require.NoError(t, b.take(t.Context(), 3), "who was named in that term")
		b.lock.(*lock).free()
		b.lock.(*lock).content.LeaderTransitions = 5 // as the operator does
		require.ErrorIs(t, a.take(t.Context(), 4), errNewer)
		require.NoError(t, a.take(t.Context(), 6))
	})
}

func TestHolderThatIsReplacedStopsAtOnce(t *testing.T) {
	leases(t, func(t *testing.T, a, b *lease) {
		lapsed := false
		a.lapsed = func() { lapsed = true }
		require.NoError(t, a.take(t.Context(), 1))
		a.lock.(*lock).free()
		require.NoError(t, b.take(t.Context(), 1))
		require.ErrorIs(t, a.renew(t.Context()), errHeld)
		assert.True(t, lapsed)
		assert.False(t, a.holds())
	})
}

func TestWriteOfAnotherDoesNotEndTheLease(t *testing.T) {
	leases(t, func(t *testing.T, a, _ *lease) {
		require.NoError(t, a.take(t.Context(), 1))
		a.lock.(*lock).version++ // a label, or a request of its own that has timed out
		require.NoError(t, a.renew(t.Context()))
		assert.True(t, a.holds())
	})
}

func TestFreeLeaseIsTakenAtOnce(t *testing.T) {
	leases(t, func(t *testing.T, a, b *lease) {
		require.NoError(t, a.take(t.Context(), 1))
		a.lock.(*lock).down = true
		require.Error(t, a.free(t.Context()))
		assert.True(t, a.holds(), "nobody else knows that it is free")
		a.lock.(*lock).down = false
		require.NoError(t, a.free(t.Context()))
		assert.False(t, a.holds())
		require.NoError(t, b.take(t.Context(), 1))
		require.NoError(t, a.free(t.Context()))
		assert.Equal(t, "b", b.lock.(*lock).content.HolderIdentity, "what another holds is not freed")
	})
}

// A renewal begins while the Lease is being given back, and waits for its turn.
func TestARenewalDoesNotTakeBackWhatWasFreed(t *testing.T) {
	for name, another := range map[string]bool{"and nobody has taken it": false, "and another member has taken it": true} {
		t.Run(name, func(t *testing.T) {
			leases(t, func(t *testing.T, a, b *lease) {
				lapsed := false
				a.lapsed = func() { lapsed = true }
				require.NoError(t, a.take(t.Context(), 1))
				renewed := make(chan error, 1)
				server := a.lock.(*lock)
				server.first = func() { // in the request of free
					server.first = nil
					go func() { renewed <- a.renew(t.Context()) }() // it waits for this request
				}
				server.then = func() {
					server.then = nil
					if another {
						assert.NoError(t, b.take(t.Context(), 1))
					}
				}
				require.NoError(t, a.free(t.Context()))
				require.NoError(t, <-renewed)
				assert.Equal(t, another, server.content.HolderIdentity == "b", "it is %q's", server.content.HolderIdentity)
				assert.NotEqual(t, "a", server.content.HolderIdentity)
				assert.False(t, a.holds())
				assert.False(t, lapsed, "its PostgreSQL takes no writes, and may go on as a standby")
			})
		})
	}
}

// A renewal is refused, because somebody has set a label. Before it reads the Lease again, the
// Lease is to be given back: that waits for its turn.
func TestARenewalThatWasRefusedEndsBeforeTheLeaseIsFreed(t *testing.T) {
	leases(t, func(t *testing.T, a, b *lease) {
		a.lapsed = func() { t.Error("PostgreSQL was killed") }
		require.NoError(t, a.take(t.Context(), 1))
		server, freed := a.lock.(*lock), make(chan error, 1)
		server.version++
		server.before = func() { // the renewal is about to read
			server.before = nil
			go func() { freed <- errors.Join(a.free(t.Context()), b.take(t.Context(), 1)) }()
			for range 1000 {
				runtime.Gosched() // it would be done by then
			}
		}
		require.NoError(t, a.renew(t.Context()))
		require.NoError(t, <-freed)
		assert.Equal(t, "b", server.content.HolderIdentity)
	})
}

// The same, and by then the deadline has passed: PostgreSQL was killed once, and may run again.
func TestARenewalThatWasRefusedIsNotRepeatedTooLate(t *testing.T) {
	leases(t, func(t *testing.T, a, _ *lease) {
		lapsed := 0
		a.lapsed = func() { lapsed++ }
		require.NoError(t, a.take(t.Context(), 1))
		server := a.lock.(*lock)
		server.version++
		server.before = func() { elapse(deadline) }
		require.NoError(t, a.renew(t.Context()))
		assert.False(t, a.holds())
		assert.Equal(t, 1, lapsed)
	})
}

func TestALeaseThatCouldNotBeFreedIsHeld(t *testing.T) {
	leases(t, func(t *testing.T, a, b *lease) {
		require.NoError(t, a.take(t.Context(), 1))
		server := a.lock.(*lock)
		server.first = func() { server.down = true } // it was read, and cannot be written
		require.Error(t, a.free(t.Context()))
		assert.True(t, a.holds())
		elapse(deadline)
		assert.False(t, a.holds(), "to give it back is no renewal")
		require.ErrorIs(t, b.take(t.Context(), 1), errHeld)
	})
}

// The deadline is of use only if it depends on nothing that may hang.
func TestDeadlineStopsPostgresWhileTheLoopHangs(t *testing.T) {
	a, err := newAgent(t.Context(), options{UID: "a", Data: t.TempDir(), Status: "127.0.0.1:0", Programs: fakePrograms(t)})
	require.NoError(t, err)
	defer os.RemoveAll(a.server.settings.sockets)
	defer a.listener.Close()
	for name, program := range map[string]string{
		"that obeys":     "echo; exec sleep 1000",
		"that is frozen": "trap '' QUIT; echo; exec sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			command := exec.Command("sh", "-c", program)
			output, err := command.StdoutPipe()
			require.NoError(t, err)
			program, err := start(command)
			require.NoError(t, err)
			a.server.process.Store(program)
			_, err = output.Read(make([]byte, 1)) // now it runs
			require.NoError(t, err)
			a.mu.Lock() // the loop waits for that
			defer a.mu.Unlock()
			a.lease.lapsed()
			t.Cleanup(func() { _ = command.Process.Kill() })
			assert.Eventually(t, program.ended, testcluster.TestTimeout, 10*time.Millisecond)
			assert.False(t, a.server.lost(), "the agent has ended it")
		})
	}
}

// fakePrograms is a folder of programs that know their version only.
func fakePrograms(t *testing.T) string {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "postgres"), []byte("#!/bin/sh\necho 'postgres (PostgreSQL) 17.2 (Debian)'\n"), 0o700))
	return folder
}
