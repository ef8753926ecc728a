package provisioner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"example.com/hacking-a-controller/lab/internal/mounted"
)

// folders are the volumes, side by side in one folder.
type folders struct {
	dir string
}

// name is one that a person finds. A claim's may be as long as a file's, so it is cut.
func (folders) name(claim *corev1.ObjectReference) string {
	return fmt.Sprintf("%s-%.150s-%s", claim.Namespace, claim.Name, claim.UID)
}

// create makes the folder of a claim, unless it exists, and returns its path. Everybody
// may write to it, because a pod may run as any user, and a hostPath volume knows no
// fsGroup; the lab's own folder is closed to others.
func (f folders) create(claim *corev1.ObjectReference) (string, error) {
	path := filepath.Join(f.dir, f.name(claim))
	err := os.Mkdir(path, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = os.Chmod(path, 0o777) // whatever the umask
	}
	if err != nil {
		return "", fmt.Errorf("making the folder of a volume: %w", err)
	}
	return path, nil
}

// remove deletes the folder of a volume. A person may write any path into a
// PersistentVolume, so it must be the one that create has made for the claim.
func (f folders) remove(volume *corev1.PersistentVolume) error {
	source, claim := volume.Spec.HostPath, volume.Spec.ClaimRef
	if source == nil || claim == nil || source.Path != filepath.Join(f.dir, f.name(claim)) {
		return fmt.Errorf("not deleting what volume %s leads to, because it is not the folder that the lab has made for its claim (delete the PersistentVolume yourself)", volume.Name)
	}
	mounts, err := mounted.Below(source.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(mounts) > 0 {
		err = fmt.Errorf("another file system is mounted in it (to delete it without that: umount %q)", mounts[0])
	}
	if err != nil {
		return fmt.Errorf("not deleting %s: %w", source.Path, err)
	}
	root, err := os.OpenRoot(f.dir) // nothing outside is reached from here, by no link
	if err != nil {
		return fmt.Errorf("deleting the folder of a volume: %w", err)
	}
	defer root.Close()
	if err := root.RemoveAll(f.name(claim)); err != nil {
		return fmt.Errorf("deleting the folder of a volume: %w", err)
	}
	return nil
}
