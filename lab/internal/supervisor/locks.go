package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"example.com/hacking-a-controller/lab/internal/filelock"
	"example.com/hacking-a-controller/lab/internal/layout"
)

// PID returns the process ID of the running supervisor, 0 if there is none.
//
// The supervisor holds a POSIX record lock. Such a lock dies with its process
// and the kernel tells who holds it, so unlike a pid file it is never stale.
func PID(l layout.Layout) (int, error) {
	f, err := os.Open(l.SupervisorLock())
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("asking who holds %s: %w", f.Name(), err)
	}
	if lock.Type == unix.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}

// lockSupervisor takes the lock that PID asks about. The returned file must
// stay open: closing any file of this process on the same path gives it up.
func lockSupervisor(l layout.Layout) (*os.File, error) {
	f, err := os.OpenFile(l.SupervisorLock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("this lab already has a supervisor (see: lab status): %w", err)
	}
	return f, nil
}

// WaitGone waits until no process of the lab is left. What does not end by
// itself when the supervisor is gone (a component that somebody stopped with
// SIGSTOP) is killed after patience.
func WaitGone(ctx context.Context, l layout.Layout, patience time.Duration) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f, err := filelock.Lock(patient, l.AliveLock())
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		killLeftovers(l)
		last, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if f, err = filelock.Lock(last, l.AliveLock()); err != nil {
			return fmt.Errorf("some process of the lab does not end (find it with: fuser %q): %w", l.AliveLock(), err)
		}
	}
	return f.Close()
}

// killLeftovers ends the components of a supervisor that is gone. The session
// ID proves that a process is the lab's: nothing else was ever in the session
// that the supervisor opened.
func killLeftovers(l layout.Layout) {
	state, err := ReadState(l)
	if err != nil {
		return
	}
	for _, c := range state.Components {
		if sid, err := unix.Getsid(c.PID); err == nil && c.PID > 0 && sid == state.PID {
			_ = unix.Kill(-c.PID, unix.SIGKILL)
		}
	}
}
