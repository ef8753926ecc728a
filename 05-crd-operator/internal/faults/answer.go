// Package faults is what goes wrong between an operator and its API server, for tests of any operator.
package faults

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// LoseAnswer lets the write with this number, counted from 1, reach the server, and loses the answer. If the operator
// dies of it, no later write arrives. Writes that the server refuses do not count.
func LoseAnswer(number int, dies bool, isWrite func(*http.Request) bool) (wrap func(*rest.Config), lost <-chan struct{}) {
	errLost, done := errors.New("the network is in a bad mood"), make(chan struct{})
	var mu sync.Mutex // one write at a time
	accepted := 0
	return testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if !isWrite(r) {
			return next.RoundTrip(r) // what the caches of a dead operator read hurts nobody
		}
		mu.Lock()
		defer mu.Unlock()
		if dies && accepted >= number {
			return nil, errLost
		}
		response, err := next.RoundTrip(r)
		if err != nil || response.StatusCode/100 != 2 {
			return response, err
		}
		if accepted++; accepted != number {
			return response, nil
		}
		response.Body.Close()
		close(done)
		return nil, errLost
	}), done
}

// WhenLost calls a function once the answer is lost. The test fails if that never happens.
func WhenLost(t testing.TB, lost <-chan struct{}, call func()) {
	t.Helper()
	var calling sync.WaitGroup
	calling.Go(func() {
		select {
		case <-lost:
			call()
		case <-t.Context().Done(): // the test is over
		}
	})
	t.Cleanup(func() {
		calling.Wait()
		select {
		case <-lost:
		default:
			assert.Fail(t, "the operator has not made so many writes")
		}
	})
}
