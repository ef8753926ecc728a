package cli

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// watchLimit warns if this user can watch no more files. The lab looks at its files from time
// to time, too, so it works; programs that only watch do not.
func watchLimit(folder string) []string { return watchWarning(watch(folder)) }

func watchWarning(err error) []string {
	limit := ""
	switch {
	case errors.Is(err, unix.EMFILE):
		limit = "fs.inotify.max_user_instances=1024"
	case errors.Is(err, unix.ENOSPC):
		limit = "fs.inotify.max_user_watches=524288"
	default:
		return nil
	}
	return []string{fmt.Sprintf("warning: you can watch no more files, and programs that do may fail with %q; to raise the limit: sudo sysctl %s", err, limit)}
}

// watch watches a folder for as long as it takes to know that it can.
func watch(folder string) error {
	instance, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(instance)
	_, err = unix.InotifyAddWatch(instance, folder, unix.IN_CREATE)
	return err
}
