package layout

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/mounted"
)

// written are the names of all that the lab writes into its folder, less the marker.
func (l Layout) written() []string {
	return []string{
		l.AdminKubeconfig(), l.Settings(), l.AuditPolicy(), l.State(),
		l.EtcdData(), l.Kubelet(), l.Runtime(), l.Images(), l.Volumes(), l.StaticPods(), l.PKI(), l.Join("logs"),
		l.SupervisorLock(), l.AliveLock(), l.CommandLock(),
	}
}

// isOurs reports whether the lab has written what lies at path. A file that is
// replaced in one step is first written beside itself (state.json.new), and one that is
// broken is set aside (state.json.broken).
func (l Layout) isOurs(path string) bool {
	return strings.HasPrefix(path, l.Join(unfinishedMarker)) || slices.ContainsFunc(l.written(), func(own string) bool {
		return path == own || strings.HasPrefix(path, own+".new") || path == atomicfile.Aside(own)
	})
}

// Remove deletes what the lab has written, and the folder itself if nothing else is
// in it. What somebody else has put there is left, and its names are returned; the
// folder then stays a lab's, so that the next one may use it.
func (l Layout) Remove() (left []string, err error) {
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
		case name == markerName: // last, so that this can be tried again
		case l.isOurs(path):
			if err := os.RemoveAll(path); err != nil {
				return nil, fmt.Errorf("deleting the lab's folder: %w", err)
			}
		default:
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		return left, nil
	}
	if err := os.Remove(l.Join(markerName)); err != nil {
		return nil, fmt.Errorf("deleting the lab's folder: %w", err)
	}
	if err := os.Remove(l.root); err != nil && !errors.Is(err, syscall.EBUSY) { // a file system of its own
		return nil, fmt.Errorf("deleting the lab's folder: %w", err)
	}
	return nil, nil
}
