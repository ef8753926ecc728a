package kubelet

import (
	"fmt"
	"os"

	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/emptydir"
	"k8s.io/kubernetes/pkg/volume/hostpath"
	"k8s.io/kubernetes/pkg/volume/projected"
	"k8s.io/kubernetes/pkg/volume/secret"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
)

// volumePlugins are those that need nothing but a directory.
func volumePlugins() []volume.VolumePlugin {
	var all []volume.VolumePlugin
	all = append(all, emptydir.ProbeVolumePlugins()...)
	all = append(all, secret.ProbeVolumePlugins()...)
	all = append(all, configmap.ProbeVolumePlugins()...)
	all = append(all, downwardapi.ProbeVolumePlugins()...)
	all = append(all, projected.ProbeVolumePlugins()...)
	for _, plugin := range hostpath.ProbeVolumePlugins(volume.VolumeConfig{}) {
		all = append(all, persistentPlugin{plugin})
	}
	if os.Geteuid() != 0 {
		for i := range all {
			all[i] = unownedPlugin{all[i]}
		}
	}
	return all
}

// persistentPlugin is a volume plugin for PersistentVolumes only: these an administrator
// makes, or package provisioner. A pod that names a folder of the host itself is refused
// like one with a volume that the lab does not have.
type persistentPlugin struct {
	volume.VolumePlugin
}

// CanSupport reports whether the plugin is the one for this volume.
func (p persistentPlugin) CanSupport(spec *volume.Spec) bool {
	return spec.PersistentVolume != nil && p.VolumePlugin.CanSupport(spec)
}

// hostUtil is upstream's fake, which touches no mounts, but sees real files.
type hostUtil struct {
	*hostutil.FakeHostUtil
}

func newHostUtil() hostUtil {
	return hostUtil{hostutil.NewFakeHostUtil(nil)}
}

// PathExists is asked about the subPath of a volume mount.
func (hostUtil) PathExists(path string) (bool, error) {
	_, err := os.Stat(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

// GetMode is asked for the permissions of a volume, when a subPath of it is to be made.
func (hostUtil) GetMode(path string) (os.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Mode(), nil
}

// subpather makes the directories that a subPath names. The real one also
// pins them with a bind mount, so that a container cannot swap a symbolic link
// in: without isolation there is nothing to protect.
type subpather struct{}

var _ subpath.Interface = subpather{}

// PrepareSafeSubpath returns the path unchanged and nothing to clean up.
func (subpather) PrepareSafeSubpath(s subpath.Subpath) (string, func(), error) {
	return s.Path, nil, nil
}

// CleanSubPaths has nothing to undo.
func (subpather) CleanSubPaths(string, string) error { return nil }

// SafeMakeDir makes subdir of base, and may not lead out of it. It has exactly these
// permissions, whatever the umask.
func (subpather) SafeMakeDir(subdir, base string, perm os.FileMode) error {
	root, err := os.OpenRoot(base)
	if err != nil {
		return fmt.Errorf("opening the volume for a subPath: %w", err)
	}
	defer root.Close()
	err = root.MkdirAll(subdir, perm.Perm())
	if err == nil {
		err = root.Chmod(subdir, perm)
	}
	if err != nil {
		return fmt.Errorf("making a subPath: %w", err)
	}
	return nil
}
