package testcluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Run runs a program in the background until stop is called or the test ends. Either waits for it: a program has to end
// with its context, and without an error. The context that Run returns ends when the program does, also by itself.
func Run(t testing.TB, program func(context.Context) error) (running context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan struct{})
	var err error
	go func() {
		defer close(ended)
		err = program(ctx)
		cancel(errors.Join(errors.New("the program has ended"), err))
	}()
	stop = func() {
		t.Helper()
		cancel(nil)
		select {
		case <-ended:
			assert.NoError(t, err) //nolint:testifylint // stop is called in other goroutines, too
		case <-time.After(TestTimeout):
			assert.Fail(t, "the program does not end with its context")
		}
	}
	t.Cleanup(stop)
	return ctx, stop
}
