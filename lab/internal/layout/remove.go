package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/mounted"
)

// written are the names of all that the lab writes into its folder, less the marker.
func (l Layout) written() []string {
	return []string{
		l.AdminKubeconfig(), l.Settings(), l.AuditPolicy(), l.State(),
		l.EtcdData(), l.Kubelet(), l.Runtime(), l.Images(), l.Volumes(), l.StaticPods(), l.PKI(), l.Join("logs"),
		l.FaultsSocket(), l.SupervisorLock(), l.AliveLock(), l.CommandLock(),
	}
}

// isOurs reports whether the lab has written what lies at path. A file that is
// replaced in one step is first written beside itself (state.json.new-123), and one that is
// broken is set aside (state.json.broken).
func (l Layout) isOurs(path string) bool {
	return atomicfile.IsUnfinished(path, l.Join(markerName)) || slices.ContainsFunc(l.written(), func(own string) bool {
		return path == own || atomicfile.IsUnfinished(path, own) || path == atomicfile.Aside(own)
	})
}

// Remove deletes what the lab has written, and the folder itself if nothing else is
// in it. What somebody else has put there is left, as are the files at the paths in keep, and the
// names of all of these are returned; the folder then stays a lab's, so that the next one may use it.
// Unless it is nil, last is called when all else is deleted, so that a full disk has room for what it writes.
func (l Layout) Remove(last func() error, keep ...string) (left []string, err error) {
	mounts, err := mounted.Below(l.root)
	if err != nil {
		return nil, err
	}
	if len(mounts) > 0 {
		return nil, fmt.Errorf("not deleting %s, because another file system is mounted in it (to delete it without that: umount %q)", l.root, mounts[0])
	}
	names, err := l.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		switch path := l.Join(name); {
		case name == markerName, path == l.CommandLock(): // last, see removeLast
		case l.isOurs(path) && !slices.Contains(keep, path):
			if err := os.RemoveAll(path); err != nil {
				return nil, fmt.Errorf("deleting the lab's folder: %w", err)
			}
		default:
			left = append(left, name)
		}
	}
	if last != nil {
		if err := last(); err != nil {
			return nil, err
		}
	}
	return left, l.removeLast(len(left) == 0)
}

// removeLast removes the marker, so that until then removing can be tried again, and after that
// the lock of this command: another one that waits for it, or comes now, begins with a folder
// that is no lab's.
func (l Layout) removeLast(all bool) error {
	paths := []string{l.CommandLock()}
	if all {
		paths = []string{l.Join(markerName), l.CommandLock(), l.root}
	}
	for _, path := range paths {
		err := os.Remove(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		// A file system of its own, or the other command has begun.
		if path == l.root && (errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.ENOTEMPTY)) {
			continue
		}
		return fmt.Errorf("deleting the lab's folder: %w", err)
	}
	return nil
}
