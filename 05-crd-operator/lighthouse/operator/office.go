package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

const (
	// callTimeout ends a call long before the office forgets that a token is used up. A registration
	// that comes later than that after the withdrawal would be one for nobody.
	callTimeout = 10 * time.Second
	// turnEvery is the time between two turns, of all Lighthouses together. In a turn there are at
	// most two calls.
	turnEvery = 100 * time.Millisecond
)

// office makes calls to the Light List office.
type office struct {
	url    string
	client *http.Client
	clock  clock.PassiveClock

	mu      sync.Mutex
	free    time.Time // when the next turn is free
	silent  bool      // a call has hung, and none was answered since
	turns   map[string]turn
	backoff workqueue.TypedRateLimiter[string]
}

// turn is when the office may be called about one Lighthouse.
type turn struct {
	about    string // what the call would send
	at       time.Time
	reserved bool     // nobody else has it
	problem  *problem // what the last call has come to
}

func newOffice(url string, clock clock.PassiveClock) *office {
	backoff := workqueue.NewTypedItemExponentialFailureRateLimiter[string](turnEvery, time.Minute)
	return &office{url: url, client: &http.Client{Timeout: callTimeout}, clock: clock, turns: map[string]turn{}, backoff: backoff}
}

// wait returns how long a call about a Lighthouse has to wait; 0 is a turn. A Lighthouse that would
// send something else than last time needn't wait for the next check of what is there.
func (o *office) wait(key, about string) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, t := o.clock.Now(), o.turns[key]
	if t.about != about {
		t = turn{about: about, at: now}
	}
	switch {
	case o.silent: // one call at a time: the first to come when it's over has the turn
		t.at, t.reserved = later(t.at, o.free), false
		if !t.at.After(now) {
			o.free = now.Add(callTimeout + turnEvery)
		}
	case !t.reserved && !t.at.After(now):
		t.at, t.reserved = later(now, o.free), true
		o.free = t.at.Add(turnEvery)
	}
	wait := t.at.Sub(now)
	t.reserved = t.reserved && wait > 0
	o.turns[key] = t
	return max(wait, 0)
}

// next says when the next call about a Lighthouse is due.
func (o *office) next(key string, in time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turns[key] = turn{about: o.turns[key].about, at: o.clock.Now().Add(in)}
	o.backoff.Forget(key)
}

// remember keeps the problem that a call has come to. While the Lighthouse waits for its next call, it
// returns that problem: nothing newer is known. If the office hasn't said when to come back, each call
// waits longer than the last one. The queue can't see to that: it forgets the failures of a key that waits.
func (o *office) remember(key string, again time.Duration, err error) (time.Duration, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.turns[key]
	trouble, is := errors.AsType[*problem](err)
	switch {
	case is && trouble.err != nil: // it was a call
		t.problem = trouble
		switch trouble.again {
		case 0:
			t.at = o.clock.Now().Add(o.backoff.When(key))
		case checkEvery: // whatever else brings the key meanwhile
			t.at = o.clock.Now().Add(checkEvery)
		}
		o.turns[key] = t
	case err == nil && again > 0 && t.problem != nil: // it waits
		still := *t.problem
		still.again = again
		return 0, &still
	}
	return again, err
}

// forget makes the next call about a Lighthouse due at once.
func (o *office) forget(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.turns, key)
	o.backoff.Forget(key)
}

// pause lets nobody call for a while. Those who have a turn get another one, after that.
func (o *office) pause(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.free = later(o.free, o.clock.Now().Add(d))
	for key, t := range o.turns {
		t.reserved = false
		o.turns[key] = t
	}
}

// heed notes whether a call has hung. It held up a worker, which healed nothing meanwhile. So from then on there is one
// call at a time, until the office answers.
func (o *office) heed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent = errors.Is(err, context.DeadlineExceeded) || o.silent && errors.Is(err, errNoAnswer)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// listing is what the office says about a light, and is told. It has no number until after.
type listing struct {
	Token string `json:"token"`
	v1alpha1.Listing
	Number string        `json:"number,omitempty"`
	after  time.Duration // when to look again
}

// errNoAnswer is a call without an answer, or with one that isn't understood.
var errNoAnswer = errors.New("no answer")

// refusal is an answer that is no light.
type refusal struct {
	code  int
	after time.Duration // when to come back, if the office has said it
}

func (r *refusal) Error() string {
	return fmt.Sprintf("the office answers %d %s", r.code, http.StatusText(r.code))
}

func (o *office) lookUp(ctx context.Context, bearer, token string) (listing, error) {
	return o.call(ctx, bearer, http.MethodGet, "/lights/"+token, nil)
}

func (o *office) register(ctx context.Context, bearer string, want listing) (listing, error) {
	return o.call(ctx, bearer, http.MethodPost, "/lights", want)
}

func (o *office) change(ctx context.Context, bearer string, want listing) (listing, error) {
	return o.call(ctx, bearer, http.MethodPut, "/lights/"+want.Token, want)
}

func (o *office) withdraw(ctx context.Context, bearer, token string) error {
	_, err := o.call(ctx, bearer, http.MethodDelete, "/lights/"+token, nil)
	return err
}

// call makes a call. If the office is overloaded, it stops all calls for as long as it says.
func (o *office) call(ctx context.Context, bearer, method, path string, send any) (got listing, err error) {
	body, err := json.Marshal(send)
	if err != nil {
		return got, err
	}
	request, err := http.NewRequestWithContext(ctx, method, o.url+path, bytes.NewReader(body))
	if err != nil {
		return got, err
	}
	request.Header.Set("Authorization", "Bearer "+bearer)
	defer func() { o.heed(err) }()
	response, err := o.client.Do(request)
	if err != nil {
		return got, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer response.Body.Close()
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if there is none
	after := time.Duration(min(seconds, 3600)) * time.Second
	switch {
	case response.StatusCode == http.StatusNoContent:
		return got, nil
	case response.StatusCode == http.StatusNotFound && response.Header.Get("Light-List-Edition") == "":
		return got, fmt.Errorf("%w: a 404 that isn't the office's", errNoAnswer) // but a proxy's, or of a wrong URL
	case response.StatusCode/100 != 2:
		if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
			o.pause(after)
		}
		return got, &refusal{response.StatusCode, after}
	}
	if err = json.NewDecoder(response.Body).Decode(&got); err != nil {
		return got, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	got.after = after
	return got, nil
}
