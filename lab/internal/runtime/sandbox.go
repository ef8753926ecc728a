package runtime

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// sandbox is a pod, to the CRI.
type sandbox struct {
	dir    string
	config *runtimeapi.PodSandboxConfig

	mu     sync.Mutex
	record sandboxRecord
}

// sandboxRecord is what sandbox.json holds.
type sandboxRecord struct {
	ID        string
	CreatedAt time.Time
	Handler   string
	IP        netip.Addr // not valid on the host's network
	Stopped   bool
	Config    protoJSON
}

// newID returns a random name, as unlikely to repeat as those of other runtimes.
func newID() string {
	id := make([]byte, 32)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// RunPodSandbox gives a pod its address.
func (s *Service) RunPodSandbox(_ context.Context, config *runtimeapi.PodSandboxConfig, handler string) (string, error) {
	id := newID()
	b := &sandbox{dir: filepath.Join(s.options.Root, "sandboxes", id), config: config}
	b.record = sandboxRecord{ID: id, CreatedAt: time.Now(), Handler: handler, Config: protoJSON{config}}
	if !hostNetwork(config) {
		ip, err := s.options.Pool.Get()
		if err != nil {
			return "", fmt.Errorf("giving the pod an address: %w", err)
		}
		b.record.IP = ip
	}
	err := os.MkdirAll(b.dir, 0o700)
	if err == nil && config.LogDirectory != "" {
		err = os.MkdirAll(config.LogDirectory, 0o755)
	}
	if err == nil {
		err = shim.WriteFile(b.dir, sandboxFile, b.record)
	}
	if err != nil {
		s.options.Pool.Free(b.record.IP)
		return "", errors.Join(fmt.Errorf("recording the pod: %w", err), os.RemoveAll(b.dir))
	}
	s.mu.Lock()
	s.sandboxes[id] = b
	s.mu.Unlock()
	return id, nil
}

func hostNetwork(config *runtimeapi.PodSandboxConfig) bool {
	return config.GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() == runtimeapi.NamespaceMode_NODE
}

// StopPodSandbox ends what still runs in the pod and takes its address back.
func (s *Service) StopPodSandbox(ctx context.Context, id string) error {
	b, err := s.sandbox(id)
	if err != nil {
		return nil // stopping is to be possible any number of times
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, c := range s.containersOf(id) {
		wg.Go(func() {
			err := s.stop(ctx, c, 0)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.record.Stopped {
		return nil
	}
	stopped := b.record
	stopped.Stopped = true
	if err := shim.WriteFile(b.dir, sandboxFile, stopped); err != nil {
		return fmt.Errorf("recording that the pod is stopped: %w", err)
	}
	b.record = stopped
	s.options.Pool.Free(stopped.IP)
	return nil
}

// RemovePodSandbox forgets the pod and all its containers.
func (s *Service) RemovePodSandbox(ctx context.Context, id string) error {
	b, err := s.sandbox(id)
	if err != nil {
		return nil
	}
	if err := s.StopPodSandbox(ctx, id); err != nil {
		return err
	}
	for _, c := range s.containersOf(id) {
		if err := s.RemoveContainer(ctx, c.record.ID); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("removing the pod: %w", err)
	}
	s.mu.Lock()
	delete(s.sandboxes, id)
	s.mu.Unlock()
	return nil
}

// PodSandboxStatus describes one sandbox.
func (s *Service) PodSandboxStatus(_ context.Context, id string, _ bool) (*runtimeapi.PodSandboxStatusResponse, error) {
	b, err := s.sandbox(id)
	if err != nil {
		return nil, err
	}
	response := &runtimeapi.PodSandboxStatusResponse{Status: s.sandboxStatus(b), Timestamp: time.Now().UnixNano()}
	for _, c := range s.containersOf(id) {
		response.ContainersStatuses = append(response.ContainersStatuses, c.status())
	}
	return response, nil
}

func (s *Service) sandboxStatus(b *sandbox) *runtimeapi.PodSandboxStatus {
	r := b.snapshot()
	return &runtimeapi.PodSandboxStatus{
		Id:        r.ID,
		Metadata:  b.config.Metadata,
		State:     r.state(),
		CreatedAt: r.CreatedAt.UnixNano(),
		Network:   &runtimeapi.PodSandboxNetworkStatus{Ip: s.addressOf(r)},
		Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{
			Options: b.config.GetLinux().GetSecurityContext().GetNamespaceOptions(),
		}},
		Labels:         b.config.Labels,
		Annotations:    b.config.Annotations,
		RuntimeHandler: r.Handler,
	}
}

// ListPodSandbox lists the newest first.
func (s *Service) ListPodSandbox(_ context.Context, filter *runtimeapi.PodSandboxFilter) ([]*runtimeapi.PodSandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*runtimeapi.PodSandbox
	for id, b := range s.sandboxes {
		r := b.snapshot()
		if f := filter; f != nil && (f.Id != "" && f.Id != id || f.State != nil && f.State.State != r.state() || !matches(b.config.Labels, f.LabelSelector)) {
			continue
		}
		list = append(list, &runtimeapi.PodSandbox{
			Id: id, Metadata: b.config.Metadata, State: r.state(), CreatedAt: r.CreatedAt.UnixNano(),
			Labels: b.config.Labels, Annotations: b.config.Annotations, RuntimeHandler: r.Handler,
		})
	}
	slices.SortFunc(list, func(a, b *runtimeapi.PodSandbox) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return list, nil
}

func (s *Service) sandbox(id string) (*sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.sandboxes[id]; ok {
		return b, nil
	}
	return nil, notFound("pod sandbox", id)
}

// addressOf returns the address of a pod.
func (s *Service) addressOf(r sandboxRecord) string {
	if r.IP.IsValid() {
		return r.IP.String()
	}
	return s.options.NodeIP
}

func (b *sandbox) snapshot() sandboxRecord {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.record
}

func (r sandboxRecord) state() runtimeapi.PodSandboxState {
	if r.Stopped {
		return runtimeapi.PodSandboxState_SANDBOX_NOTREADY
	}
	return runtimeapi.PodSandboxState_SANDBOX_READY
}

// matches reports whether labels has all that the selector wants.
func matches(labels, selector map[string]string) bool {
	for key, value := range selector {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	return true
}
