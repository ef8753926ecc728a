package repository

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// A Slot is a folder for a copy that lies at the same path from run to run: Go's cache
// knows a package by its folder. One process at a time has it.
type Slot struct {
	Dir  string
	lock *os.File
}

// TakeSlot takes the first slot in dir that is free. Where the process that has one is
// killed, the kernel frees it.
func TakeSlot(dir string) (Slot, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Slot{}, fmt.Errorf("making a folder for copies of the repository: %w", err)
	}
	for n := 1; ; n++ {
		s := Slot{Dir: filepath.Join(dir, "slot-"+strconv.Itoa(n))}
		var err error
		if s.lock, err = os.OpenFile(s.Dir+".lock", os.O_CREATE|os.O_RDWR, 0o644); err != nil {
			return Slot{}, fmt.Errorf("locking a folder for a copy of the repository: %w", err)
		}
		err = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return s, nil
		}
		s.Free()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return Slot{}, fmt.Errorf("locking %s: %w", s.Dir, err)
		}
	}
}

// Free lets others have the slot.
func (s Slot) Free() { _ = s.lock.Close() }
