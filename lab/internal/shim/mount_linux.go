package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	filepath "path"
	"syscall"
)

func mount(source, target, kind string, flags uintptr) error {
	if err := syscall.Mount(source, target, kind, flags, ""); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", source, target, err)
	}
	return nil
}

// kept are the flags that an unprivileged remount must repeat, as statfs tells
// them and as mount takes them.
var kept = map[int64]uintptr{
	0x0002: syscall.MS_NOSUID,
	0x0004: syscall.MS_NODEV,
	0x0008: syscall.MS_NOEXEC,
	0x0400: syscall.MS_NOATIME,
	0x0800: syscall.MS_NODIRATIME,
	0x1000: syscall.MS_RELATIME,
}

// readOnly makes what is mounted at path read-only, there and nowhere else.
func readOnly(path string) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return fmt.Errorf("looking at the mount at %s: %w", path, err)
	}
	flags := uintptr(syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY)
	for has, flag := range kept {
		if int64(stat.Flags)&has != 0 {
			flags |= flag
		}
	}
	return mount("", path, "", flags)
}

// makeDev gives the container a small /dev. Device nodes are mounted from the
// host's, because making them takes root.
func (v *view) makeDev() error {
	if err := v.ensure("/dev", true); err != nil {
		return err
	}
	dev := filepath.Join(v.root, "dev")
	if err := mount("tmpfs", dev, "tmpfs", syscall.MS_NOSUID); err != nil {
		return err
	}
	if err := os.Chmod(dev, 0o755); err != nil {
		return err
	}
	v.owner["/dev"] = ours
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"} {
		path := "/dev/" + name
		if err := v.bind(path, path, host); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return v.bindOwn("shm", "/dev/shm")
}
