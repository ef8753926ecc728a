package kubelet

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/volume"
)

// unownedPlugin is a volume plugin that gives its files to nobody.
//
// The kubelet gives some files to the user that a pod runs as, for instance the
// service account token. Only root may give files away, and without root there
// is no need to: the pod is the same user as the kubelet, whatever it is called
// inside its user namespace.
type unownedPlugin struct {
	volume.VolumePlugin
}

// NewMounter returns what sets one volume up.
func (p unownedPlugin) NewMounter(spec *volume.Spec, pod *v1.Pod) (volume.Mounter, error) {
	mounter, err := p.VolumePlugin.NewMounter(spec, pod)
	if err != nil {
		return nil, err
	}
	return unownedMounter{mounter}, nil
}

type unownedMounter struct {
	volume.Mounter
}

// SetUp writes the volume's files.
func (m unownedMounter) SetUp(args volume.MounterArgs) error {
	return m.Mounter.SetUp(unowned(args))
}

// SetUpAt writes the volume's files into dir.
func (m unownedMounter) SetUpAt(dir string, args volume.MounterArgs) error {
	return m.Mounter.SetUpAt(dir, unowned(args))
}

func unowned(args volume.MounterArgs) volume.MounterArgs {
	args.FsUser, args.FsGroup = nil, nil
	return args
}
