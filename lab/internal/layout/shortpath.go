package layout

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// maxKubelet is how long the path of the kubelet's root directory may be. The
// kubelet listens on a unix socket in it (pod-resources/kubelet.sock), exits if
// it cannot, and the path of a socket is limited to 104 bytes on macOS and 108 on
// Linux.
const maxKubelet = 75

// LinkKubelet returns the path that the kubelet is to use as its root directory:
// [Layout.Kubelet] or, when that is too long, a link to it in the folder for
// temporary files. Everybody may write there, so a link that another user has made is
// refused: they could point it to another folder at any time.
func (l Layout) LinkKubelet() (string, error) { return l.linkKubelet(os.Geteuid()) }

func (l Layout) linkKubelet(uid int) (string, error) {
	dir := l.Kubelet()
	if len(dir) <= maxKubelet {
		return dir, nil
	}
	link := l.kubeletLink()
	if linksTo(link, dir, uid) {
		return link, nil
	}
	if err := os.Symlink(dir, link); err != nil {
		return "", fmt.Errorf("linking the kubelet's folder, whose path is too long for a socket (move the lab to a shorter path, or set TMPDIR to a folder of your own): %w", err)
	}
	return link, nil
}

// linksTo reports whether there is a link of this user's to dir.
func linksTo(link, dir string, uid int) bool {
	info, err := os.Lstat(link)
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	target, err := os.Readlink(link)
	return ok && int(owner.Uid) == uid && err == nil && target == dir
}

// UnlinkKubelet removes the link, if there is one.
func (l Layout) UnlinkKubelet() error {
	link := l.kubeletLink()
	if !linksTo(link, l.Kubelet(), os.Geteuid()) {
		return nil
	}
	if err := os.Remove(link); err != nil {
		return fmt.Errorf("removing the link to the kubelet's folder: %w", err)
	}
	return nil
}

func (l Layout) kubeletLink() string {
	sum := sha256.Sum256([]byte(l.Kubelet()))
	return filepath.Join(os.TempDir(), fmt.Sprintf("lab-%d-%x", os.Getuid(), sum[:6]))
}
