package kubelet

import (
	"context"
	"fmt"

	nooptrace "go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubeletutil "k8s.io/kubernetes/pkg/kubelet/util"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	mount "k8s.io/mount-utils"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/runtime"
)

// dependencies lists what the kubelet works with.
func dependencies(l layout.Layout, service *runtime.Service) (*kubelet.Dependencies, error) {
	config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig(pki.Kubelet))
	if err != nil {
		return nil, fmt.Errorf("reading the kubelet's kubeconfig (to write it again: lab down, then lab up): %w", err)
	}
	config.QPS, config.Burst = 100, 200
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	// Heartbeats have a client of their own, so that they never queue behind the
	// requests for pods.
	unlimited := rest.CopyConfig(config)
	unlimited.QPS = -1
	heartbeat, err := kubernetes.NewForConfig(unlimited)
	if err != nil {
		return nil, err
	}
	return &kubelet.Dependencies{
		Options:              []kubelet.Option{checkProbes(service.CheckProbe)},
		KubeClient:           client,
		HeartbeatClient:      heartbeat,
		EventClient:          client.CoreV1(),
		RemoteRuntimeService: service,
		RemoteImageService:   service.Images(),

		// Ours.
		CAdvisorInterface: machine{},
		OSInterface:       hostOS{},
		VolumePlugins:     volumePlugins(),
		HostUtil:          hostUtil{hostutil.NewFakeHostUtil(nil)},
		Subpather:         subpather{},
		// Volumes are plain directories: what the kubelet would mount (a tmpfs for
		// a secret) is left out.
		Mounter: mount.NewFakeMounter(nil),
		// No cgroups, no devices, and no process's OOM score is touched.
		ContainerManager: containerManager{cm.NewStubContainerManager()},
		OOMAdjuster:      oom.NewFakeOOMAdjuster(),

		PodStartupLatencyTracker:  kubeletutil.NewPodStartupLatencyTracker(),
		NodeStartupLatencyTracker: kubeletutil.NewNodeStartupLatencyTracker(klog.Background()),
		TracerProvider:            nooptrace.NewTracerProvider(),
	}, nil
}

// secure makes the kubelet's own server ask who is calling and whether they may.
func secure(ctx context.Context, server *options.KubeletServer, deps *kubelet.Dependencies) error {
	tlsOptions, err := kubeletapp.InitializeTLS(ctx, &server.KubeletFlags, &server.KubeletConfiguration)
	if err != nil {
		return fmt.Errorf("preparing the kubelet's certificate: %w", err)
	}
	deps.TLSOptions = tlsOptions
	auth, runReload, err := kubeletapp.BuildAuth(types.NodeName(component.NodeName), deps.KubeClient, server.KubeletConfiguration)
	if err != nil {
		return fmt.Errorf("preparing the kubelet's authentication: %w", err)
	}
	deps.Auth = auth
	runReload(ctx.Done())
	return nil
}
