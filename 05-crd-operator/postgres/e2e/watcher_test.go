package e2e

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The watcher asks a member this often, and tries this often to find and to reach members. One
// that has just started is no primary yet.
const (
	askEvery  = 20 * time.Millisecond
	dialEvery = 100 * time.Millisecond
)

// watcher asks all members all the time whether they take writes, each at its own address.
type watcher struct {
	*env
	dialer dialer

	mu   sync.Mutex
	seen []sighting
}

// sighting is an answer of a PostgreSQL that takes writes.
type sighting struct {
	server     string // its cluster_name
	connection int    // over which it came
	asked      time.Time
	answered   time.Time
}

// startWatcher watches the members until the test ends.
func (e *env) startWatcher() *watcher {
	w := &watcher{env: e, dialer: e.newDialer()}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { w.findMembers(ctx, &watching) })
	e.Cleanup(func() {
		cancel()
		watching.Wait()
		a, b := twoAtATime(w.sightings())
		assert.Nil(e, a, "two members took writes at the same time, the other one was %+v", b)
	})
	return w
}

// findMembers watches each pod for as long as there is one.
func (w *watcher) findMembers(ctx context.Context, watching *sync.WaitGroup) {
	known := map[types.UID]context.CancelFunc{}
	for {
		var pods corev1.PodList
		if err := w.list(ctx, &pods); err == nil { // the API server may be dead
			there := map[types.UID]bool{}
			for _, pod := range pods.Items {
				there[pod.UID] = true
				if known[pod.UID] == nil && pod.Status.PodIP != "" {
					watched, cancel := context.WithCancel(ctx)
					known[pod.UID] = cancel
					watching.Go(func() { w.watch(watched, &pod) })
				}
			}
			for uid, cancel := range known {
				if !there[uid] {
					cancel()
					delete(known, uid) // it comes back if only its label was away
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(dialEvery):
		}
	}
}

// watch asks a member, and connects again when that fails.
func (w *watcher) watch(ctx context.Context, pod *corev1.Pod) {
	address := podAddress(pod)
	var s *session
	for connection := 0; ctx.Err() == nil; {
		wait := askEvery
		if s == nil {
			connection++
			s, _ = w.dialer.dial(ctx, address)
			wait = dialEvery // it may be down, or starting
		}
		if s != nil && w.askOnce(ctx, s, string(pod.UID), connection) != nil {
			s.close()
			s = nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	if s != nil {
		s.close()
	}
}

// podAddress is where the PostgreSQL of a pod listens.
func podAddress(pod *corev1.Pod) string {
	return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(pod.Spec.Containers[0].Ports[0].ContainerPort)))
}

func (w *watcher) askOnce(ctx context.Context, s *session, server string, connection int) error {
	asked := time.Now()
	rows, err := s.query(ctx, "SELECT current_setting('cluster_name'), pg_is_in_recovery()")
	if err != nil {
		return err
	}
	if rows[0][0] != server {
		return fmt.Errorf("it is the address of %s by now", rows[0][0])
	}
	if rows[0][1] == "f" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, sighting{server, connection, asked, time.Now()})
	}
	return nil
}

func (w *watcher) sightings() []sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clip(w.seen)
}

// sees waits until the watcher has seen this pod take writes: one that sees nothing proves nothing.
func (w *watcher) sees(server types.UID) {
	w.Helper()
	eventually(w, "the watcher sees the primary", func() error {
		for _, s := range w.sightings() {
			if s.server == string(server) {
				return nil
			}
		}
		return fmt.Errorf("it has not seen %s", server)
	})
}

// twoAtATime returns two sightings that prove that two members took writes at the same time, or
// nil.
//
// To see one and then another take writes is no proof: the first may have ended in between. But
// a PostgreSQL that takes writes does so until it ends, and its connections end with it. So one
// with two such answers over the same connection took writes all the time from the moment the
// first one came until the last was asked for. A PostgreSQL that answered within that time is a
// second one.
func twoAtATime(seen []sighting) (a, b *sighting) {
	type connection struct {
		server string
		number int
	}
	surely := map[connection]*sighting{} // answered first, asked last
	for _, s := range seen {
		c := connection{s.server, s.connection}
		if surely[c] == nil {
			surely[c] = &s
		}
		surely[c].asked = s.asked
	}
	for _, a := range surely {
		for _, b := range seen {
			if a.server != b.server && b.asked.After(a.answered) && b.answered.Before(a.asked) {
				return a, &b
			}
		}
	}
	return nil, nil
}

func TestTwoAtATime(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(server string, connection, asked, answered int) sighting {
		return sighting{server, connection, begin.Add(time.Duration(asked)), begin.Add(time.Duration(answered))}
	}
	for name, tc := range map[string]struct {
		seen []sighting
		two  bool
	}{
		"nobody":                                     {nil, false},
		"one after the other":                        {[]sighting{at("A", 1, 0, 1), at("A", 1, 2, 3), at("B", 1, 4, 5), at("B", 1, 6, 7)}, false},
		"A, B and A again":                           {[]sighting{at("A", 1, 0, 1), at("B", 1, 2, 3), at("A", 1, 4, 5)}, true},
		"A comes back as another PostgreSQL":         {[]sighting{at("A", 1, 0, 1), at("B", 1, 2, 3), at("A", 2, 4, 5)}, false},
		"B's answer may be older than A's first":     {[]sighting{at("A", 1, 0, 2), at("B", 1, 1, 3), at("A", 1, 4, 5)}, false},
		"B's answer may be younger than A's last":    {[]sighting{at("A", 1, 0, 1), at("B", 1, 2, 5), at("A", 1, 4, 6)}, false},
		"the times of both overlap, and none's ends": {[]sighting{at("A", 1, 0, 1), at("B", 1, 2, 3), at("A", 1, 4, 5), at("B", 1, 6, 7)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := twoAtATime(tc.seen)
			assert.Equal(t, tc.two, a != nil)
		})
	}
}
