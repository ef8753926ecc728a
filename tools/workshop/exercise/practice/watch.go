package practice

import (
	"context"
	"errors"
	"time"
)

// watch checks now and after each save, until the exercise is solved or ctx ends.
func (p practice) watch(ctx context.Context, c workCopy, timeout time.Duration) error {
	e, err := c.exercise()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	saved, err := saves(ctx, c.folders(e)...)
	if err != nil {
		return err
	}
	return p.repeat(ctx, saved, func(ctx context.Context) error {
		return p.check(ctx, c, timeout)
	})
}

// repeat calls check until it returns nil. A save ends a check that still runs: it is
// of code that is not there any more.
func (p practice) repeat(ctx context.Context, saved <-chan struct{}, check func(context.Context) error) error {
	for {
		again, err := p.once(ctx, saved, check)
		if ctx.Err() != nil || err == nil {
			return nil
		}
		if !again {
			if !errors.Is(err, ErrNotYet) {
				p.printf("%v", err)
			}
			p.printf("\nWaiting for you to save a file (Ctrl-C to quit) ...")
			if _, ok := <-saved; !ok {
				return nil
			}
		}
		p.printf("\n%s", time.Now().Format(time.TimeOnly))
	}
}

// once calls check, and says whether a save ended it.
func (p practice) once(ctx context.Context, saved <-chan struct{}, check func(context.Context) error) (again bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = check(ctx)
	}()
	select {
	case <-done:
		return false, err
	case <-saved:
		cancel()
		<-done
		return true, err
	}
}
