package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

// Each of these has an env of its own.
func TestAgainstARealServer(t *testing.T) {
	for name, run := range map[string]func(*env){
		"copies follow sources and targets":             follows,
		"a copy that is edited or deleted is healed":    heals,
		"a foreign secret is left alone":                collides,
		"nothing is written when nothing differs":       nothingDiffers,
		"workers write side by side":                    sideBySide,
		"two with the same rules do the work once":      twoAtOnce,
		"everything changes while it is down":           changesWhileDown,
		"the connection is dropped, again and again":    connectionDropped,
		"it is stopped in the middle of a write":        stopped,
		"no data is printed, logged or put into events": printsNoData,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newEnv(t, "real"))
		})
	}
}

func follows(e *env) {
	e.source("db", "tide")
	e.source("certificate", "wax", frozen, otherType)
	e.create("source/private", "mine") // has no annotation
	e.namespace("harbour", true)
	e.namespace("coast", false)
	e.create("coast/own", "mine")
	e.start()
	want := map[string]string{"harbour/db": "tide", "harbour/certificate": "wax example.com/other immutable", "coast/own": "mine foreign"}
	e.becomes(want)

	e.annotate("source/private", `""`)
	e.annotate("coast", `""`)
	want["coast/db"], want["coast/certificate"] = want["harbour/db"], want["harbour/certificate"]
	want["harbour/private"], want["coast/private"] = "mine", "mine"
	e.becomes(want)

	e.annotate("source/private", "null")
	e.annotate("coast", "null")
	e.delete("source/certificate")
	e.becomes(map[string]string{"harbour/db": "tide", "coast/own": "mine foreign"})
}

func heals(e *env) {
	e.source("db", "tide")
	e.source("mail", "post")
	e.namespace("harbour", true)
	e.start()
	want := map[string]string{"harbour/db": "tide", "harbour/mail": "post"}
	e.becomes(want)
	e.delete("harbour/mail")
	e.patch("harbour/db", `{"metadata":{"labels":{"team":"divers"}},"stringData":{"key":"forged"}}`)
	e.becomes(and(want, "harbour/db", "tide divers")) // what others have added remains

	// What can't be changed is deleted, and then it's missing. A finalizer delays that.
	e.patch("harbour/db", `{"metadata":{"finalizers":["example.com/wait"]},"immutable":true,"stringData":{"key":"forged"}}`)
	require.Eventually(e, func() bool { return strings.Contains(e.out.String(), "deleted "+e.name+"-harbour/db") }, testcluster.TestTimeout, 20*time.Millisecond)
	e.patch("harbour/db", `{"metadata":{"finalizers":null}}`)
	e.becomes(want)
}

func collides(e *env) {
	e.namespace("harbour", true)
	e.create("harbour/db", "mine")
	e.source("db", "tide")
	e.source("mail", "post")
	want := map[string]string{"harbour/db": "mine foreign", "harbour/mail": "post", "event harbour/db": "NameCollision"}
	e.options.resync = time.Second
	for _, value := range []string{"one", "two"} { // a restart records nothing new
		stop := e.start()
		e.set("source/db", value)
		e.set("source/mail", value)
		e.becomes(and(want, "harbour/mail", value))
		stop()
	}
	assert.Equal(e, 1, strings.Count(e.out.String(), "left alone "), &e.out)

	// A resync finds what no watch reports.
	e.start()
	e.delete("harbour/db")
	e.becomes(and(and(want, "harbour/db", "two"), "harbour/mail", "two"))
}

// With one worker, keys are taken in the order in which they came. So when the last source is copied,
// all before it have been reconciled.
func nothingDiffers(e *env) {
	want := map[string]string{}
	e.namespace("harbour", true)
	for i := range 10 {
		e.source(fmt.Sprintf("db-%d", i), "tide")
		want[fmt.Sprintf("harbour/db-%d", i)] = "tide"
	}
	stop := e.start()
	e.becomes(want)
	stop()
	assert.Len(e, e.answers(), 10)

	e.options.workers, e.options.resync = 1, time.Second
	stop = e.start()
	e.patch("source/db-0", `{"metadata":{"labels":{"touched":"yes"}}}`)
	e.annotate("harbour", `"touched"`)
	e.source("last", "x")
	e.becomes(and(want, "harbour/last", "x"))
	stop()
	assert.Equal(e, []string{"POST 201"}, e.answers(), "only the last one")
}

// Each create waits until all four have begun.
func sideBySide(e *env) {
	e.namespace("harbour", true)
	want := map[string]string{}
	for i := range e.options.workers {
		e.source(fmt.Sprintf("db-%d", i), "tide")
		want[fmt.Sprintf("harbour/db-%d", i)] = "tide"
	}
	var begun atomic.Int32
	all := make(chan struct{})
	e.start(func(next http.RoundTripper) trip {
		return func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPost {
				if begun.Add(1) == 4 {
					close(all)
				}
				select {
				case <-all:
				case <-request.Context().Done():
				}
			}
			return next.RoundTrip(request)
		}
	})
	e.becomes(want)
}

// churn changes sources and targets, calls the function before each change, and waits for the end that
// there must be.
func (e *env) churn(before func()) {
	want := map[string]string{}
	for i := range 3 {
		e.namespace(fmt.Sprintf("harbour-%d", i), true)
	}
	for step := range 24 {
		before()
		name := fmt.Sprintf("db-%d", step%6)
		if step == 18 { // db-0
			e.delete("source/" + name)
			delete(want, "harbour-0/"+name)
			delete(want, "harbour-1/"+name)
			continue
		}
		if step == 12 {
			e.annotate("harbour-2", "null")
		}
		if step < 6 {
			e.source(name, "")
		}
		e.set("source/"+name, fmt.Sprint(step))
		want["harbour-0/"+name], want["harbour-1/"+name] = fmt.Sprint(step), fmt.Sprint(step)
	}
	e.becomes(want)
}

// Two copies of the program have the same rules, as during an update of a Deployment. Each write is
// accepted once, and none undoes another.
func twoAtOnce(e *env) {
	e.options.resync = time.Second
	stopOne, stopTwo := e.start(), e.start()
	e.churn(func() {})
	stopOne()
	stopTwo()
	creates := slices.DeleteFunc(e.answers(), func(w string) bool { return w != "POST 201" })
	assert.LessOrEqual(e, len(creates), 18, "six sources in three targets: no copy was deleted and made anew")
	assert.NotContains(e, e.log.String(), "trying again later", "to be second is not a failure")
}

func connectionDropped(e *env) {
	proxy, config := testcluster.StartProxy(e.T, e.config)
	e.config = config
	e.source("first", "x")
	e.namespace("coast", true)
	e.start()
	e.becomes(map[string]string{"coast/first": "x"}) // a start without a connection is an error
	e.delete("source/first")
	e.annotate("coast", "null")
	e.churn(proxy.Cut)
}

func changesWhileDown(e *env) {
	want := map[string]string{}
	for _, name := range []string{"changed", "deleted", "unmarked", "same", "anew"} {
		e.source(name, "old")
		want["harbour/"+name], want["coast/"+name] = "old", "old"
	}
	e.namespace("harbour", true)
	e.namespace("coast", true)
	stop := e.start()
	e.becomes(want)
	stop()

	e.set("source/changed", "new")
	e.delete("source/deleted")
	e.annotate("source/unmarked", "null")
	e.delete("source/anew")
	e.source("anew", "old")
	e.set("harbour/same", "forged")
	e.annotate("coast", "null")
	e.namespace("island", true)
	e.start()
	e.becomes(map[string]string{
		"harbour/changed": "new", "harbour/same": "old", "harbour/anew": "old",
		"island/changed": "new", "island/same": "old", "island/anew": "old",
	})
}

// It finishes the write that has begun, and begins no other.
func stopped(e *env) {
	e.namespace("harbour", true)
	for i := range 10 {
		e.source(fmt.Sprintf("db-%d", i), "tide")
	}
	e.options.workers = 1
	ctx, cancel := context.WithCancel(e.Context())
	require.NoError(e, e.run(ctx, before(http.MethodPost, "/secrets", cancel)))
	assert.Equal(e, []string{"POST 201"}, e.answers())
	assert.Equal(e, 1, strings.Count(e.out.String(), "created"))
}

func printsNoData(e *env) {
	e.source("db", "unmistakable")
	e.source("seal", "unmistakable", frozen)
	e.namespace("harbour", true)
	e.create("harbour/mail", "unmistakable, too")
	e.source("mail", "unmistakable")
	want := map[string]string{"harbour/mail": "unmistakable, too foreign", "event harbour/mail": "NameCollision"}
	stop := e.start(refuseOnce("PUT"), refuseOnce("POST"), refuseOnce("DELETE"))
	e.becomes(and(and(want, "harbour/db", "unmistakable"), "harbour/seal", "unmistakable immutable"))
	e.set("source/db", "unmistakable as well")
	e.delete("source/seal")
	e.becomes(and(want, "harbour/db", "unmistakable as well"))
	stop()
	events, err := e.client.EventsV1().Events(e.name+"-harbour").List(e.Context(), metav1.ListOptions{})
	require.NoError(e, err)
	all := e.out.String() + e.log.String() + events.String()
	assert.Equal(e, 3, strings.Count(e.log.String(), "trying again later"))
	assert.NotContains(e, all, "unmistakable")
	assert.NotContains(e, all, "dW5taXN0YWthYmxl", "nor in base64")
	assert.NotContains(e, all, "117 110 109 105", "nor as bytes")
}

// refuseOnce makes the network fail at the first request with this method.
func refuseOnce(method string) fault {
	var refused atomic.Bool
	return func(next http.RoundTripper) trip {
		return func(request *http.Request) (*http.Response, error) {
			if request.Method == method && refused.CompareAndSwap(false, true) {
				return nil, errors.New("the network is in a bad mood")
			}
			return next.RoundTrip(request)
		}
	}
}

// TestFaults has somebody write between the program's read and its write.
func TestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		method, end string
		meddle      func(*env) // just before the first such request
		then        func(*env)
		answers     []string
		want        map[string]string
	}{
		"a copy changes just before it is updated": {"PUT", "/db",
			func(e *env) { e.patch("harbour/db", `{"metadata":{"labels":{"team":"divers"}}}`) },
			func(e *env) { e.set("source/db", "ebb") },
			[]string{"POST 201", "PUT 409", "PUT 200"}, map[string]string{"harbour/db": "ebb divers"}},
		"a copy is given up just before it is deleted": {"DELETE", "/db",
			func(e *env) { e.patch("harbour/db", `{"metadata":{"labels":null}}`) },
			func(e *env) { e.delete("source/db") },
			[]string{"POST 201", "DELETE 409"}, map[string]string{"harbour/db": "tide foreign"}},
		"a copy is deleted just before it is updated": {"PUT", "/db",
			func(e *env) { e.delete("harbour/db") },
			func(e *env) { e.set("source/db", "ebb") },
			[]string{"POST 201", "PUT 404", "POST 201"}, map[string]string{"harbour/db": "ebb"}},
		"a foreign secret comes just before the copy": {"POST", "/secrets",
			func(e *env) { e.create("harbour/db", "mine") }, func(*env) {},
			[]string{"POST 201"}, map[string]string{"harbour/db": "mine foreign", "event harbour/db": "NameCollision"}},
		"a namespace begins to end just before the copy": {"POST", "/secrets",
			func(e *env) {
				assert.NoError(e, e.client.CoreV1().Namespaces().Delete(e.Context(), e.name+"-harbour", metav1.DeleteOptions{}))
			}, func(*env) {},
			[]string{"POST 403"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, "fault")
			e.source("db", "tide")
			e.namespace("harbour", true)
			met := make(chan struct{})
			stop := e.start(before(tc.method, tc.end, func() { tc.meddle(e); close(met) }))
			if tc.method != http.MethodPost {
				e.becomes(map[string]string{"harbour/db": "tide"})
			}
			tc.then(e)
			<-met
			var answers []string
			assert.Eventually(t, func() bool {
				answers = append(answers, e.answers()...)
				return len(answers) >= len(tc.answers)
			}, testcluster.TestTimeout, 20*time.Millisecond)
			stop()
			assert.Equal(t, tc.answers, append(answers, e.answers()...))
			e.becomes(tc.want)
			assert.NotContains(t, e.log.String(), "trying again later", "this is not a failure")
		})
	}
}

// TestACrashAfterEveryWrite makes changes, undisturbed, and counts the writes that they need. Then it
// makes them once for each of these writes: this write reaches the server, the program dies before the
// answer arrives, and a new one takes over. What the cluster comes to must be the same.
func TestACrashAfterEveryWrite(t *testing.T) {
	writes := crashing(newEnv(t, "calm"), 0)
	assert.Equal(t, 11, writes, "the changes are not those of the comments")
	for n := 1; n <= writes; n++ {
		t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
			t.Parallel()
			crashing(newEnv(t, fmt.Sprint("crash", n)), n)
		})
	}
}

// crashing makes the changes, with a crash after so many writes, and returns how many there were.
func crashing(e *env, after int) (writes int) {
	stop := e.restarting(after)
	e.namespace("harbour", true) // 2 creates
	e.namespace("coast", true)
	e.source("db", "tide")
	e.becomes(map[string]string{"harbour/db": "tide", "coast/db": "tide"})
	e.set("source/db", "ebb") // 2 updates
	e.becomes(map[string]string{"harbour/db": "ebb", "coast/db": "ebb"})
	e.patch("coast/db", `{"immutable":true,"stringData":{"key":"forged"}}`) // a delete and a create
	e.becomes(map[string]string{"harbour/db": "ebb", "coast/db": "ebb"})
	e.create("harbour/mail", "mine") // an event
	e.source("mail", "post")         // and a create
	want := map[string]string{"harbour/mail": "mine foreign", "event harbour/mail": "NameCollision"}
	e.becomes(and(and(and(want, "harbour/db", "ebb"), "coast/db", "ebb"), "coast/mail", "post"))
	e.annotate("coast", "null") // 2 deletes
	e.becomes(and(want, "harbour/db", "ebb"))
	e.delete("source/db") // and the last
	e.becomes(want)
	stop()
	accepted := slices.DeleteFunc(e.answers(), func(w string) bool { return !strings.Contains(w, " 2") })
	return len(accepted)
}

// restarting runs the program as a cluster would: when it has died, after so many writes, it is started
// again, without the fault.
func (e *env) restarting(after int) (stop func()) {
	dead := make(chan struct{})
	first := e.start(crash(after, func() { close(dead) }))
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(e.Context())
	go func() {
		defer close(ended)
		select {
		case <-dead:
			first()
			assert.NoError(e, e.run(ctx))
		case <-ctx.Done():
			assert.Zero(e, after, "it didn't crash")
			first()
		}
	}()
	stop = func() { cancel(); <-ended }
	e.Cleanup(stop)
	return stop
}

// crash lets so many writes succeed, and then nothing more: not even the answer to the last of them
// arrives. It calls the function when that happens.
func crash(after int, dead func()) fault {
	var mu sync.Mutex
	done := 0
	return func(next http.RoundTripper) trip {
		return func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodGet {
				return next.RoundTrip(request) // caches of a dead program do no harm
			}
			mu.Lock() // one write at a time
			defer mu.Unlock()
			if after > 0 && done == after {
				return nil, errors.New("the program has crashed")
			}
			response, err := next.RoundTrip(request)
			if err != nil || response.StatusCode >= 300 {
				return response, err
			}
			if done++; done == after {
				response.Body.Close()
				dead()
				return nil, errors.New("the program has crashed")
			}
			return response, nil
		}
	}
}
