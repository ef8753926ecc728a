// Package runtime is the lab's container runtime: it implements the CRI, the
// interface between the kubelet and containerd or CRI-O, with containers that are
// plain processes of the machine. The kubelet calls it in process, without gRPC.
//
// A pod sandbox is only an address and a record: there is no process behind it.
// A container is a directory with a shim that runs in it, see package shim. All
// state is on disk, so a new kubelet finds the containers of the one before.
//
// What a container sees depends on what the kernel lets the lab do:
//
//   - On Linux, a container has a root directory of its own, with its volumes at
//     their paths. Root needs a mount namespace for that, others a user namespace
//     as well; in there the process has the user and group that the pod asks for.
//   - Elsewhere it sees the host's files. LAB_ROOT names a directory with the
//     volumes and, if the image has any, its files: a volume for /data is at
//     $LAB_ROOT/data. KUBECONFIG names a kubeconfig for the service account.
//
// Everywhere, the host's network and processes are shared and nothing is limited.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"

	"example.com/hacking-a-controller/lab/internal/browser"
	"example.com/hacking-a-controller/lab/internal/image"
	"example.com/hacking-a-controller/lab/internal/podnet"
)

// Options of a Service.
type Options struct {
	// Root is the directory for sandboxes and containers.
	Root string
	// Images is where images come from.
	Images *image.Store
	// Pool is where pods get their addresses from.
	Pool *podnet.Pool
	// NodeIP is the address of pods on the host's network.
	NodeIP string
	// APIServer is where containers reach it, as host:port: nothing routes the
	// ClusterIP that the kubelet would tell them.
	APIServer string
	// CAFile holds the API server's CA.
	CAFile string
	// Lifeline is a pipe: at its end all containers end.
	Lifeline *os.File
	// Alive is kept open by every process that outlives this one.
	Alive *os.File
}

// Service implements the CRI's RuntimeService.
type Service struct {
	options   Options
	isolation isolation
	streams   streaming.Server

	ctx    context.Context // of the goroutines below
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
}

var _ internalapi.RuntimeService = (*Service)(nil)

// New takes over the containers that it finds in o.Root and serves exec, attach
// and port-forward on a port of its own, until Close.
func New(ctx context.Context, o Options) (*Service, error) {
	if o.Lifeline == nil {
		return nil, errors.New("starting the container runtime: there is no lifeline (start it with: lab up)")
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, err
	}
	o.Root = root
	s := &Service{options: o, sandboxes: map[string]*sandbox{}, containers: map[string]*container{}}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if s.isolation, err = s.probe(ctx); err != nil {
		return nil, fmt.Errorf("starting the container runtime: %w", err)
	}
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("loading the containers: %w", err), s.Close(ctx))
	}
	if err := s.serveStreams(); err != nil {
		return nil, errors.Join(fmt.Errorf("serving exec and attach: %w", err), s.Close(ctx))
	}
	return s, nil
}

// serveStreams starts the server that the API server is redirected to. A URL on
// it holds a secret token and works once.
func (s *Service) serveStreams() error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	config := streaming.DefaultConfig
	config.Addr = listener.Addr().String()
	if s.streams, err = streaming.NewServer(config, streams{s}); err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: browser.KeepOut(s.streams)}
	context.AfterFunc(s.ctx, func() { _ = server.Close() })
	s.tasks.Go(func() { _ = server.Serve(listener) })
	return nil
}

// Close stops serving. Containers run on.
func (s *Service) Close(context.Context) error {
	s.cancel()
	s.tasks.Wait()
	return nil
}

// Images returns the other half of the CRI.
func (s *Service) Images() internalapi.ImageManagerService {
	return imageService{s.options.Images}
}

// Version says what is asked for.
func (s *Service) Version(context.Context, string) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{
		Version:           "0.1.0",
		RuntimeName:       "lab",
		RuntimeVersion:    "1.0.0",
		RuntimeApiVersion: "v1",
	}, nil
}

// Status says that all is well: there is nothing to wait for.
func (s *Service) Status(context.Context, bool) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{
		Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
			{Type: runtimeapi.RuntimeReady, Status: true},
			{Type: runtimeapi.NetworkReady, Status: true},
		}},
		RuntimeHandlers: []*runtimeapi.RuntimeHandler{{Name: "", Features: &runtimeapi.RuntimeHandlerFeatures{}}},
	}, nil
}

// RuntimeConfig names a cgroup driver, because the kubelet asks for one.
func (s *Service) RuntimeConfig(context.Context) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{
		Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: runtimeapi.CgroupDriver_CGROUPFS},
	}, nil
}

// UpdateRuntimeConfig is told the range of pod addresses. They are chosen by then.
func (s *Service) UpdateRuntimeConfig(context.Context, *runtimeapi.RuntimeConfig) error { return nil }

// CheckpointContainer isn't implemented.
func (s *Service) CheckpointContainer(context.Context, *runtimeapi.CheckpointContainerRequest) error {
	return unimplemented("checkpoint a container")
}

// CheckpointPod isn't implemented.
func (s *Service) CheckpointPod(context.Context, *runtimeapi.CheckpointPodRequest) error {
	return unimplemented("checkpoint a pod")
}

// RestorePod isn't implemented: it would need a checkpoint.
func (s *Service) RestorePod(context.Context, *runtimeapi.RestorePodRequest) (*runtimeapi.RestorePodResponse, error) {
	return nil, unimplemented("restore a pod")
}

// GetContainerEvents isn't implemented. The kubelet asks only if its feature EventedPLEG is on;
// otherwise it looks at all containers each second.
func (s *Service) GetContainerEvents(context.Context, chan *runtimeapi.ContainerEventResponse, func(runtimeapi.RuntimeService_GetContainerEventsClient)) error {
	return unimplemented("stream the events of containers")
}

// UpdateContainerResources has no limits to change.
func (s *Service) UpdateContainerResources(context.Context, string, *runtimeapi.ContainerResources) error {
	return nil
}

// UpdatePodSandboxResources has no limits to change.
func (s *Service) UpdatePodSandboxResources(context.Context, *runtimeapi.UpdatePodSandboxResourcesRequest) (*runtimeapi.UpdatePodSandboxResourcesResponse, error) {
	return &runtimeapi.UpdatePodSandboxResourcesResponse{}, nil
}

func unimplemented(what string) error {
	return status.Errorf(codes.Unimplemented, "the lab cannot %s", what)
}

func notFound(kind, id string) error {
	return status.Errorf(codes.NotFound, "%s %q not found", kind, id)
}
