package kubelet

import (
	"context"
	goruntime "runtime"

	"github.com/google/cadvisor/info/v1"
	cadvisorv2 "github.com/google/cadvisor/info/v2"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
)

// machine stands in for cAdvisor, which reads cgroups. It knows how large the
// machine is; how much each container uses it does not know.
type machine struct{}

var _ cadvisor.Interface = machine{}

func (machine) Start() error { return nil }

// MachineInfo becomes the node's capacity.
func (machine) MachineInfo() (*v1.MachineInfo, error) {
	memory, err := totalMemory()
	if err != nil {
		return nil, err
	}
	return &v1.MachineInfo{NumCores: goruntime.NumCPU(), MemoryCapacity: memory}, nil
}

// VersionInfo becomes part of the node's nodeInfo.
func (machine) VersionInfo() (*v1.VersionInfo, error) {
	return &v1.VersionInfo{KernelVersion: kernelVersion(), ContainerOsVersion: "the host's " + goruntime.GOOS}, nil
}

func (machine) ContainerInfoV2(string, cadvisorv2.RequestOptions) (map[string]cadvisorv2.ContainerInfo, error) {
	return map[string]cadvisorv2.ContainerInfo{}, nil
}

func (machine) GetRequestedContainersInfo(string, cadvisorv2.RequestOptions) (map[string]*v1.ContainerInfo, error) {
	return map[string]*v1.ContainerInfo{}, nil
}

func (machine) ImagesFsInfo(context.Context) (cadvisorv2.FsInfo, error) {
	return cadvisorv2.FsInfo{}, nil
}

func (machine) ContainerFsInfo(context.Context) (cadvisorv2.FsInfo, error) {
	return cadvisorv2.FsInfo{}, nil
}

func (machine) RootFsInfo() (cadvisorv2.FsInfo, error) { return cadvisorv2.FsInfo{}, nil }

func (machine) GetDirFsInfo(string) (cadvisorv2.FsInfo, error) { return cadvisorv2.FsInfo{}, nil }
