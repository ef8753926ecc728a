package kubelet

import (
	"errors"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
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
		all = append(all, hostPathPlugin{plugin})
	}
	if os.Geteuid() != 0 {
		for i := range all {
			all[i] = unownedPlugin{all[i]}
		}
	}
	return all
}

// hostPathPlugin is for PersistentVolumes, which an administrator makes, or package
// provisioner, and for static pods, which come from a file on the node. Any other pod that
// names a folder of the host is refused.
type hostPathPlugin struct {
	volume.VolumePlugin
}

// NewMounter returns what sets one volume up. The kubelet itself notes on each pod where it has
// it from, over whatever the pod says.
func (p hostPathPlugin) NewMounter(spec *volume.Spec, pod *v1.Pod) (volume.Mounter, error) {
	if spec.PersistentVolume == nil && pod.Annotations[kubetypes.ConfigSourceAnnotationKey] != kubetypes.FileSource {
		return nil, errors.New("the lab has hostPath volumes for static pods only (use a PersistentVolumeClaim or an emptyDir)")
	}
	return p.VolumePlugin.NewMounter(spec, pod)
}

// hostUtil is upstream's fake, which touches no mounts, but sees real files.
type hostUtil struct {
	*hostutil.FakeHostUtil
}

// PathExists is asked about the subPath of a volume mount.
func (hostUtil) PathExists(path string) (bool, error) {
	_, err := os.Stat(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

// GetFileType is asked about a hostPath volume, whose type may be File or Directory.
func (hostUtil) GetFileType(path string) (hostutil.FileType, error) {
	info, err := os.Stat(path)
	if err != nil {
		return hostutil.FileTypeUnknown, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return hostutil.FileTypeFile, nil
	case mode.IsDir():
		return hostutil.FileTypeDirectory, nil
	case mode&os.ModeSocket != 0:
		return hostutil.FileTypeSocket, nil
	case mode&os.ModeCharDevice != 0:
		return hostutil.FileTypeCharDev, nil
	case mode&os.ModeDevice != 0:
		return hostutil.FileTypeBlockDev, nil
	default:
		return hostutil.FileTypeUnknown, nil
	}
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
