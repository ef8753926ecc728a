package kubelet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	cadvisorapi "github.com/google/cadvisor/lib/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	internalapi "k8s.io/cri-api/pkg/apis"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"

	"example.com/hacking-a-controller/lab/internal/cluster"
	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/lifeline"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// listTimeout bounds the question to the API server, which may be ill.
const listTimeout = 5 * time.Second

// EndPods ends all pods, as a kubelet does when its node shuts down: with their preStop
// hooks and grace periods. Call it when the kubelet has ended, or that would start them
// again. They are not marked as failed: the lab is about to stop, and its next kubelet
// starts them where they were.
func EndPods(ctx context.Context, l layout.Layout, line lifeline.Files) error {
	s, err := settings.Load(l.Settings())
	if err != nil {
		return err
	}
	service, err := startRuntime(ctx, l, s, line)
	if err != nil {
		return err
	}
	defer func() { _ = service.Close(ctx) }()
	deps, err := dependencies(l, service)
	if err != nil {
		return err
	}
	runtime, err := podRuntime(ctx, l, deps)
	if err != nil {
		return fmt.Errorf("preparing to end the pods: %w", err)
	}
	running, err := runtime.GetPods(ctx, false)
	if err != nil {
		return fmt.Errorf("listing the pods that run: %w", err)
	}
	known, err := podsOfNode(ctx, deps.KubeClient)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Ending the pods without their hooks")
	}
	errs := make([]error, len(running))
	var all sync.WaitGroup
	for i, pod := range running {
		all.Go(func() {
			spec, ok := known[pod.ID]
			if !ok { // what the runtime remembers: its containers
				spec = pod.ToAPIPod()
			}
			klog.FromContext(ctx).Info("Ending a pod", "pod", klog.KRef(pod.Namespace, pod.Name))
			errs[i] = runtime.KillPod(ctx, spec, *pod, cluster.ShutdownGrace(spec))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// podsOfNode asks the API server, which stops later than the pods.
func podsOfNode(ctx context.Context, client kubernetes.Interface) (map[types.UID]*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", component.NodeName).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of the node: %w", err)
	}
	pods := map[types.UID]*corev1.Pod{}
	for i := range list.Items {
		pod := &list.Items[i]
		uid := pod.UID
		if hash, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]; ok { // the node calls a static pod so
			uid = types.UID(hash)
		}
		pods[uid] = pod
	}
	return pods, nil
}

// podRuntime is the part of the kubelet that ends pods. What only starts them needs is
// left out.
func podRuntime(ctx context.Context, l layout.Layout, deps *kubelet.Dependencies) (kubecontainer.Runtime, error) {
	root, err := l.LinkKubelet()
	if err != nil {
		return nil, err
	}
	runtime, _, err := kuberuntime.NewKubeGenericRuntimeManager(ctx,
		&record.FakeRecorder{}, // the API server is about to end, too
		nil, nil, nil,          // results of probes
		root, l.PodLogs(), &cadvisorapi.MachineInfo{},
		nil, 0, // the state of pods, for the garbage collection of containers
		deps.OSInterface, nil,
		hookClient(),
		flowcontrol.NewBackOff(time.Second, time.Second), false, nil, 0, 0,
		string(kubeletconfig.NeverVerify), nil, "", "", // images
		nil, false, metav1.Duration{}, nil, // limits, sysctls
		keepSandboxes{deps.RemoteRuntimeService}, deps.RemoteImageService, deps.ContainerManager,
		nil, nil, false, "", nil, nil, "", nil, // logs, runtime classes, seccomp, swap, memory
		deps.TracerProvider, nil, nil, nil,
	)
	return runtime, err
}

// hookClient is the client of http hooks, as upstream makes it: there is no certificate
// to verify a pod's with.
func hookClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // as said
		CheckRedirect: httpprobe.RedirectChecker(false),
	}
}

// keepSandboxes leaves a pod that has ended its address and what its init containers
// have done.
type keepSandboxes struct{ internalapi.RuntimeService }

// StopPodSandbox is called when all containers have ended.
func (keepSandboxes) StopPodSandbox(context.Context, string) error { return nil }
