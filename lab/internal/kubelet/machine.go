package kubelet

import (
	"context"
	goruntime "runtime"

	cadvisorapi "github.com/google/cadvisor/lib/model"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
)

// machine stands in for cAdvisor, which reads cgroups. It knows how large the
// machine is; how much each container uses it does not know.
type machine struct{}

var _ cadvisor.Interface = machine{}

func (machine) Start() error { return nil }

// MachineInfo becomes the node's capacity.
func (machine) MachineInfo(klog.Logger) (*cadvisorapi.MachineInfo, error) {
	memory, err := totalMemory()
	if err != nil {
		return nil, err
	}
	return &cadvisorapi.MachineInfo{NumCores: goruntime.NumCPU(), MemoryCapacity: memory}, nil
}

// VersionInfo becomes part of the node's nodeInfo.
func (machine) VersionInfo() (*cadvisorapi.VersionInfo, error) {
	return &cadvisorapi.VersionInfo{KernelVersion: kernelVersion(), ContainerOsVersion: "the host's " + goruntime.GOOS}, nil
}

func (machine) ContainerInfoV2(string, cadvisorapi.RequestOptions) (map[string]cadvisorapi.ContainerInfo, error) {
	return map[string]cadvisorapi.ContainerInfo{}, nil
}

func (machine) GetRequestedContainersInfo(string, cadvisorapi.RequestOptions) (map[string]*cadvisorapi.ContainerInfo, error) {
	return map[string]*cadvisorapi.ContainerInfo{}, nil
}

func (machine) ImagesFsInfo(context.Context) (cadvisorapi.FsInfo, error) {
	return cadvisorapi.FsInfo{}, nil
}

func (machine) ContainerFsInfo(context.Context) (cadvisorapi.FsInfo, error) {
	return cadvisorapi.FsInfo{}, nil
}

func (machine) RootFsInfo() (cadvisorapi.FsInfo, error) { return cadvisorapi.FsInfo{}, nil }

func (machine) GetDirFsInfo(string) (cadvisorapi.FsInfo, error) { return cadvisorapi.FsInfo{}, nil }

// kernelVersion is what `uname -r` prints.
func kernelVersion() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(name.Release[:])
}
