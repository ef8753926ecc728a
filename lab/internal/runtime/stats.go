package runtime

import (
	"context"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Resource use is measured in cgroups, which the lab does not make. The answers
// name what exists and say zero of it.

// ContainerStats describes one container.
func (s *Service) ContainerStats(_ context.Context, id string) (*runtimeapi.ContainerStats, error) {
	c, err := s.container(id)
	if err != nil {
		return nil, err
	}
	return c.stats(), nil
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

// PodSandboxStats describes one pod.
func (s *Service) PodSandboxStats(_ context.Context, id string) (*runtimeapi.PodSandboxStats, error) {
	b, err := s.sandbox(id)
	if err != nil {
		return nil, err
	}
	return s.podStats(b), nil
}

func (s *Service) podStats(b *sandbox) *runtimeapi.PodSandboxStats {
	id := b.snapshot().ID
	linux := &runtimeapi.LinuxPodSandboxStats{}
	for _, c := range s.containersOf(id) {
		if c.state() == runtimeapi.ContainerState_CONTAINER_RUNNING {
			linux.Containers = append(linux.Containers, c.stats())
		}
	}
	return &runtimeapi.PodSandboxStats{
		Attributes: &runtimeapi.PodSandboxAttributes{
			Id: id, Metadata: b.config.Metadata, Labels: b.config.Labels, Annotations: b.config.Annotations,
		},
		Linux: linux,
	}
}

// ListPodSandboxStats describes the pods.
func (s *Service) ListPodSandboxStats(_ context.Context, filter *runtimeapi.PodSandboxStatsFilter) ([]*runtimeapi.PodSandboxStats, error) {
	s.mu.Lock()
	var chosen []*sandbox
	for id, b := range s.sandboxes {
		if f := filter; f == nil || (f.Id == "" || f.Id == id) && matches(b.config.Labels, f.LabelSelector) {
			chosen = append(chosen, b)
		}
	}
	s.mu.Unlock()
	var list []*runtimeapi.PodSandboxStats
	for _, b := range chosen {
		list = append(list, s.podStats(b))
	}
	return list, nil
}

// ListMetricDescriptors has none.
func (s *Service) ListMetricDescriptors(context.Context) ([]*runtimeapi.MetricDescriptor, error) {
	return nil, nil
}

// ListPodSandboxMetrics has none.
func (s *Service) ListPodSandboxMetrics(context.Context) ([]*runtimeapi.PodSandboxMetrics, error) {
	return nil, nil
}
