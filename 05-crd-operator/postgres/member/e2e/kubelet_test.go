package e2e

import (
	"context"
	"encoding/json"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/operator"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// operate runs the operator, until the returned function stops it.
func (e *env) operate() (stop func()) {
	e.Helper()
	options := operator.Options{Namespace: e.namespace, Image: "postgres-member:17", Version: "17", ServiceType: corev1.ServiceTypeClusterIP, SkipNameValidation: true}
	_, stop = testcluster.Run(e, func(ctx context.Context) error {
		return operator.Run(klog.NewContext(ctx, logr.Discard()), testcluster.Shared(e).Config, options)
	})
	return stop
}

// until plays the kubelet until it is so.
func (e *env) until(what string, is func(*postgres.PostgresCluster) bool) {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), testcluster.TestTimeout)
	defer cancel()
	cluster := &postgres.PostgresCluster{}
	for {
		e.runPods()
		require.NoError(e, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: "db"}, cluster))
		if is(cluster) {
			return
		}
		select {
		case <-ctx.Done():
			require.FailNow(e, "waited in vain", "until %s: %+v", what, cluster.Status)
		case <-time.After(pause):
		}
	}
}

// runPods is what a kubelet does: it runs pods, ends those that are deleted, and reports both.
func (e *env) runPods() {
	e.Helper()
	var pods corev1.PodList
	require.NoError(e, e.client.List(e.Context(), &pods, client.InNamespace(e.namespace), client.HasLabels{plan.SelectorLabel}))
	for i := range pods.Items {
		pod := &pods.Items[i]
		a := e.agents[pod.Name]
		switch running := a != nil && a.uid == pod.UID; {
		case !running && pod.DeletionTimestamp == nil && pod.Spec.NodeName == "" && pod.Name != e.down:
			e.runPod(pod)
		case running && a.ended() && pod.Status.ContainerStatuses[0].State.Terminated == nil:
			e.eventually(func() bool { return !listens(a.address) }, "the PostgreSQL of %s ends with it", a.name)
			e.reports(pod, "", corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}})
		case running && !a.ended() && pod.DeletionTimestamp != nil:
			a.signal(syscall.SIGCONT)
			a.killAll()
		}
	}
}

func (e *env) runPod(pod *corev1.Pod) {
	e.Helper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	require.NoError(e, e.client.SubResource("binding").Create(e.Context(), pod, binding))
	ip, ports := freeIP(), pod.Spec.Containers[0].Ports
	at := func(port corev1.ContainerPort) string {
		return net.JoinHostPort(ip, strconv.Itoa(int(port.ContainerPort)))
	}
	e.run(pod, e.kubeconfig(pod.Name+".kubeconfig", e.config), at(ports[0]), at(ports[1]))
	e.reports(pod, ip, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}})
}

func (e *env) reports(pod *corev1.Pod, ip string, state corev1.ContainerState) {
	e.Helper()
	status := corev1.PodStatus{PodIP: ip, ContainerStatuses: []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: state}}}
	patch, err := json.Marshal(map[string]any{"status": status})
	require.NoError(e, err)
	require.NoError(e, client.IgnoreNotFound(e.client.Status().Patch(e.Context(), pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch))))
}

func (a *agent) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}
