package kubelet

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// containerManager is upstream's stub, which manages no cgroups, with one
// answer less that the kubelet would log as an error for every pod.
type containerManager struct {
	cm.ContainerManager
}

// NewPodContainerManager returns what manages the cgroup of a pod.
func (m containerManager) NewPodContainerManager() cm.PodContainerManager {
	return podContainerManager{m.ContainerManager.NewPodContainerManager()}
}

type podContainerManager struct {
	cm.PodContainerManager
}

// GetPodCgroupConfig says that there is nothing to read.
func (podContainerManager) GetPodCgroupConfig(*v1.Pod, v1.ResourceName) (*cm.ResourceConfig, error) {
	return nil, nil
}
