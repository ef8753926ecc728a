package layout

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxKubelet is how long the path of the kubelet's root directory may be. The
// kubelet listens on a unix socket in it (pod-resources/kubelet.sock), exits if
// it cannot, and the path of a socket is limited to 104 bytes on macOS and 108 on
// Linux.
const maxKubelet = 75

// LinkKubelet returns the path that the kubelet is to use as its root directory:
// [Layout.Kubelet] or, when that is too long, a link to it in the folder for
// temporary files.
func (l Layout) LinkKubelet() (string, error) {
	dir := l.Kubelet()
	if len(dir) <= maxKubelet {
		return dir, nil
	}
	link := l.kubeletLink()
	if target, err := os.Readlink(link); err == nil && target == dir {
		return link, nil
	}
	if err := os.Symlink(dir, link); err != nil {
		return "", fmt.Errorf("linking the kubelet's folder, whose path is too long for a socket (move the lab to a shorter path): %w", err)
	}
	return link, nil
}

// UnlinkKubelet removes the link, if there is one.
func (l Layout) UnlinkKubelet() error {
	if err := os.Remove(l.kubeletLink()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the link to the kubelet's folder: %w", err)
	}
	return nil
}

func (l Layout) kubeletLink() string {
	sum := sha256.Sum256([]byte(l.Kubelet()))
	return filepath.Join(os.TempDir(), fmt.Sprintf("lab-%d-%x", os.Getuid(), sum[:6]))
}
