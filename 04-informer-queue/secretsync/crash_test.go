package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// TestACrashAfterEveryWrite makes changes, undisturbed, and counts the writes that they
// need. Then it makes them once for each of these writes: this write reaches the
// server, the program dies before the answer arrives, and a new one takes over. What
// the cluster comes to must be the same, to the last label.
func TestACrashAfterEveryWrite(t *testing.T) {
	c := testcluster.Shared(t)
	want, writes, crashes := withCrash(t, c, "calm", -1)
	require.Equal(t, 0, crashes)
	assert.Equal(t, 11, writes, "the changes are not those of the comments")

	for n := 1; n <= writes; n++ {
		t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
			t.Parallel()
			got, _, crashes := withCrash(t, c, fmt.Sprintf("crash%d", n), n)
			assert.Equal(t, 1, crashes)
			assert.Equal(t, want, got)
		})
	}
}

// withCrash makes the changes, with a crash after so many writes, and returns what is
// in the cluster after each of them.
func withCrash(t *testing.T, c *testcluster.Cluster, name string, crashAfter int) (states [][]string, writes, crashes int) {
	s := newEnv(t, c, name)
	requests := &ledger{}
	died := restarting(s, crashAfter, requests)
	want := map[string]string{}
	reach := func() {
		s.becomes(want)
		states = append(states, everything(s))
	}

	s.target("harbour") // 2 creates
	s.target("coast")
	s.source("db", "tide")
	want["harbour/db"], want["coast/db"] = "key=tide", "key=tide"
	reach()

	s.set("source/db", "ebb") // 2 updates
	want["harbour/db"], want["coast/db"] = "key=ebb", "key=ebb"
	reach()

	s.patch("coast/db", `{"immutable":true,"stringData":{"key":"forged"}}`) // a replacement: 2
	reach()

	s.create("harbour/mail", "mine") // an event
	s.source("mail", "post")         // and a create
	want["harbour/mail"], want["coast/mail"] = "key=mine foreign", "key=post"
	eventsOf(s, 1)
	reach()

	s.annotateNamespace("coast", "null") // 2 deletes
	delete(want, "coast/db")
	delete(want, "coast/mail")
	reach()

	s.delete("source/db") // and the last
	delete(want, "harbour/db")
	reach()

	crashes = died() // and has had all answers
	return states, accepted(requests), crashes
}

// accepted counts the writes that the server accepted.
func accepted(l *ledger) int {
	return len(slices.DeleteFunc(l.answers(), func(w string) bool { return !strings.Contains(w, " 2") }))
}

// everything is all secrets and events of the env. UIDs and the name of the
// env differ from one to the next.
func everything(s *env) []string {
	secrets, err := s.client.CoreV1().Secrets("").List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	events, err := s.client.EventsV1().Events("").List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	var all, uids []string
	for _, o := range secrets.Items {
		if namespace, ok := strings.CutPrefix(o.Namespace, s.name+"-"); ok {
			uids = append(uids, string(o.UID), "UID of "+namespace+"/"+o.Name)
			all = append(all, fmt.Sprintln(o.Namespace, o.Name, o.Labels, o.Annotations, o.Type, o.Immutable != nil, o.Data))
		}
	}
	for _, e := range events.Items {
		if strings.HasPrefix(e.Namespace, s.name+"-") {
			all = append(all, fmt.Sprintln(e.Namespace, e.Name, e.Regarding, e.Related, e.Reason, e.Note))
		}
	}
	slices.Sort(all)
	same := strings.NewReplacer(append(uids, s.name, "ENV")...)
	for i := range all {
		all[i] = same.Replace(all[i])
	}
	return all
}

// restarting runs the program as a cluster would: when it dies, it is started
// again, without the fault. The function that it returns ends that and returns how
// often it died.
func restarting(s *env, crashAfter int, requests *ledger) (died func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	var deaths atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			life, die := context.WithCancel(ctx)
			faults := []func(*rest.Config){requests.watch}
			if deaths.Load() == 0 {
				faults = append(faults, crash(crashAfter, func() { deaths.Add(1); die() }))
			}
			assert.NoError(s.t, s.run(life, 4, 0, faults...))
			die()
		}
	}()
	s.t.Cleanup(func() { cancel(); <-done })
	return func() int {
		cancel()
		<-done
		return int(deaths.Load())
	}
}
