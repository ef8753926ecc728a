package runtime

import (
	"context"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Resource use is measured in cgroups, which the lab does not make. The answer
// names the containers and says zero of each. The methods that return an error are called only
// with the feature PodAndContainerStatsFromCRI, which is off, or by nobody.

// ListContainerStats describes the running containers.
func (s *Service) ListContainerStats(_ context.Context, filter *runtimeapi.ContainerStatsFilter) ([]*runtimeapi.ContainerStats, error) {
	var list []*runtimeapi.ContainerStats
	for _, c := range s.allContainers() {
		if f := filter; f != nil && (f.Id != "" && f.Id != c.record.ID || f.PodSandboxId != "" && f.PodSandboxId != c.record.SandboxID || !matches(c.config.Labels, f.LabelSelector)) {
			continue
		}
		if c.state() == runtimeapi.ContainerState_CONTAINER_RUNNING {
			list = append(list, c.stats())
		}
	}
	return list, nil
}

func (c *container) stats() *runtimeapi.ContainerStats {
	now := time.Now().UnixNano()
	zero := func() *runtimeapi.UInt64Value { return &runtimeapi.UInt64Value{} }
	return &runtimeapi.ContainerStats{
		Attributes: &runtimeapi.ContainerAttributes{
			Id: c.record.ID, Metadata: c.config.Metadata, Labels: c.config.Labels, Annotations: c.config.Annotations,
		},
		Cpu:    &runtimeapi.CpuUsage{Timestamp: now, UsageCoreNanoSeconds: zero(), UsageNanoCores: zero()},
		Memory: &runtimeapi.MemoryUsage{Timestamp: now, WorkingSetBytes: zero()},
		WritableLayer: &runtimeapi.FilesystemUsage{
			Timestamp: now, FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: c.dir}, UsedBytes: zero(), InodesUsed: zero(),
		},
	}
}

// ContainerStats isn't implemented.
func (s *Service) ContainerStats(context.Context, string) (*runtimeapi.ContainerStats, error) {
	return nil, unimplemented("measure one container")
}

// PodSandboxStats isn't implemented.
func (s *Service) PodSandboxStats(context.Context, string) (*runtimeapi.PodSandboxStats, error) {
	return nil, unimplemented("measure a pod")
}

// ListPodSandboxStats isn't implemented.
func (s *Service) ListPodSandboxStats(context.Context, *runtimeapi.PodSandboxStatsFilter) ([]*runtimeapi.PodSandboxStats, error) {
	return nil, unimplemented("measure pods")
}

// ListMetricDescriptors has none.
func (s *Service) ListMetricDescriptors(context.Context) ([]*runtimeapi.MetricDescriptor, error) {
	return nil, nil
}

// ListPodSandboxMetrics has none.
func (s *Service) ListPodSandboxMetrics(context.Context) ([]*runtimeapi.PodSandboxMetrics, error) {
	return nil, nil
}
