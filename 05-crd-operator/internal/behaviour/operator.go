package behaviour

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// operator is a running operator, seen from outside.
type operator struct {
	env      *env
	clock    *watched
	requests *ledger
	pods     *valve // in its watch of pods
	ats      *valve // in its watch of Ats

	workers int
	config  *rest.Config
	faults  []fault
	log     logr.Logger
	anyhow  bool // it may end with an error
	stop    func()
}

// with changes how an operator is started.
type with func(*operator)

func workers(n int) with { return func(o *operator) { o.workers = n } }

func withFault(f fault) with { return func(o *operator) { o.faults = append(o.faults, f) } }

func as(config *rest.Config) with { return func(o *operator) { o.config = config } }

// withErrors calls a function with each error that the operator logs.
func withErrors(logged func(text string)) with {
	return func(o *operator) {
		o.log = funcr.New(func(_, text string) {
			if strings.Contains(text, `"error"=`) {
				logged(text)
			}
		}, funcr.Options{})
	}
}

// endingAnyhow is for an operator that may fail to start.
func endingAnyhow() with { return func(o *operator) { o.anyhow = true } }

// start starts an operator with one worker, which takes one key after the other
// in their order. It works until it is stopped or the test ends.
func (s *env) start(how ...with) *operator {
	s.t.Helper()
	o := &operator{
		env: s, clock: &watched{FakeClock: s.clock}, requests: &ledger{},
		pods: newValve(s.t, "pods"), ats: newValve(s.t, "ats"),
		workers: 1, config: s.suite.config, log: logr.Discard(),
	}
	for _, change := range how {
		change(o)
	}
	config := rest.CopyConfig(o.config)
	// The first is the next to the server.
	for _, f := range append([]fault{o.requests.note, o.pods.roundTrip, o.ats.roundTrip}, o.faults...) {
		f.through(config)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), o.log))
	done := make(chan error, 1)
	go func() {
		err := s.suite.run(ctx, config, s.namespace, o.workers, o.clock)
		if err != nil && !o.anyhow {
			select {
			case s.failed <- err: // no case waits for what will not come
			default:
			}
		}
		done <- err
	}()
	o.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			assert.True(s.t, err == nil || o.anyhow, "from Run: %v", err)
		case <-time.After(testcluster.TestTimeout):
			assert.Fail(s.t, "Run did not return after the end of its context")
		}
	})
	s.t.Cleanup(o.stop)
	return o
}

// sleepsUntil waits until the operator sleeps until then. A case that lets the time
// jump earlier than that lets it jump before the operator has counted the hours.
func (o *operator) sleepsUntil(clock string) {
	o.env.t.Helper()
	want := moment(clock)
	o.env.eventually("to sleep until "+clock, func(context.Context) (any, bool) {
		until := o.clock.sleepsUntil()
		late := until.Sub(want)
		return until, late >= 0 && late < time.Second
	})
}
