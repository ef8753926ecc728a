package kubelet

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// legacyLogs is where every kubelet links the logs of its containers for log
// collectors of long ago. The path is fixed in the kubelet.
const legacyLogs = "/var/log/containers"

// hostOS is the real operating system, less the links in legacyLogs: the lab
// writes nothing outside its folder.
type hostOS struct {
	kubecontainer.RealOS
}

// Symlink makes a symbolic link, unless it would lie in legacyLogs.
func (o hostOS) Symlink(oldname, newname string) error {
	if strings.HasPrefix(newname, legacyLogs) {
		return nil
	}
	return o.RealOS.Symlink(oldname, newname)
}

// openFiles returns how many files a process may open: the kubelet would ask
// for more, which only root may.
func openFiles() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int64(min(limit.Max, 1<<20))
}

// maxRoot is how long the kubelet's root directory may be. The kubelet listens
// on a unix socket in it (pod-resources/kubelet.sock), exits if it cannot, and
// the path of a socket is limited to 104 bytes on macOS and 108 on Linux.
const maxRoot = 75

// shortPath returns dir or, when its path is too long, a link to it in the
// folder for temporary files.
func shortPath(dir string) (string, error) {
	if len(dir) <= maxRoot {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(dir))
	link := filepath.Join(os.TempDir(), fmt.Sprintf("lab-%d-%x", os.Getuid(), sum[:6]))
	if target, err := os.Readlink(link); err == nil && target == dir {
		return link, nil
	}
	if err := os.Symlink(dir, link); err != nil {
		return "", fmt.Errorf("linking the kubelet's folder, whose path is too long for a socket (clone into a shorter path): %w", err)
	}
	return link, nil
}
