package operator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// simulate plays the kubelet, and the controller that removes disks.
func (e *env) simulate() {
	e.Helper()
	var pods corev1.PodList
	require.NoError(e, e.List(e.Context(), &pods, client.InNamespace(e.namespace)))
	for i := range pods.Items {
		switch pod := &pods.Items[i]; {
		case pod.DeletionTimestamp != nil && !ended(pod):
			e.end(pod)
		case pod.Spec.NodeName == "" && controllerutil.ContainsFinalizer(pod, finalizer) && pod.DeletionTimestamp == nil:
			e.run(pod)
		}
	}
	var disks corev1.PersistentVolumeClaimList
	require.NoError(e, e.List(e.Context(), &disks, client.InNamespace(e.namespace)))
	for i := range disks.Items {
		disk := &disks.Items[i]
		used := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
			return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == disk.Name
			})
		})
		if disk.DeletionTimestamp != nil && !used {
			require.NoError(e, client.IgnoreNotFound(e.Patch(e.Context(), disk, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
			e.change(func() { delete(e.data, disk.Name) })
		}
	}
}

// run is what the scheduler and the kubelet do with a new pod.
func (e *env) run(pod *corev1.Pod) {
	e.Helper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	require.NoError(e, e.SubResource("binding").Create(e.Context(), pod, binding))
	e.report(pod, corev1.PodStatus{PodIP: e.start(pod).ip}, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
}

// reject is what the kubelet does with a pod for which its node has too little left.
func (e *env) reject(name string) {
	e.Helper()
	pod := e.pod(name)
	require.NoError(e, e.SubResource("binding").Create(e.Context(), pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}))
	require.NoError(e, e.Status().Patch(e.Context(), pod, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Failed","reason":"OutOfcpu"}}`))))
}

// end ends a pod, as the kubelet reports it.
func (e *env) end(pod *corev1.Pod) {
	e.Helper()
	e.change(func() {
		if a := e.agents[pod.Name]; a != nil && a.uid == pod.UID {
			a.frozen = true
			delete(e.agents, pod.Name)
		}
	})
	e.report(pod, corev1.PodStatus{}, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}})
}

// kill ends the pod of a member.
func (e *env) kill(name string) {
	e.Helper()
	e.end(e.pod(name))
}

// report is what a kubelet reports of a pod: after those in the status, the state of our container.
func (e *env) report(pod *corev1.Pod, status corev1.PodStatus, container corev1.ContainerState) {
	e.Helper()
	status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{Name: "postgres", State: container})
	patch, err := json.Marshal(map[string]any{"status": status})
	require.NoError(e, err)
	err = e.Status().Patch(e.Context(), pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	require.NoError(e, client.IgnoreNotFound(err))
}

// change changes what agents read.
func (e *env) change(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
}

// reconcile calls the operator once, and lets as much time pass as it then waits.
func (e *env) reconcile() reconcile.Result {
	e.Helper()
	result, err := e.operator.Reconcile(e.Context(), reconcile.Request{NamespacedName: e.key()})
	if err != nil {
		e.Logf("the operator has failed: %v", err)
		result.RequeueAfter = whileUnsettled
	}
	e.clock.Step(result.RequeueAfter)
	return result
}

// until plays the world and calls the operator until it is so, and returns the statuses that
// the operator wrote, without what only people read.
func (e *env) until(is func(*postgres.PostgresCluster) bool) (statuses []string) {
	e.Helper()
	last := brief(e.cluster())
	for range 500 {
		cluster := e.cluster()
		if now := brief(cluster); now != last {
			statuses, last = append(statuses, now), now
		}
		if is(cluster) {
			return statuses
		}
		e.simulate()
		e.reconcile()
	}
	require.FailNow(e, "it does not come so far", "%s\n%s", strings.Join(statuses, "\n"), strings.Join(e.recorded(), "\n"))
	return nil
}

func brief(c *postgres.PostgresCluster) string {
	s := c.Status
	return fmt.Sprintf("%s, term %d, primary %q, standby %q, synced %v", s.Phase, s.Term, s.Primary, s.Standby, s.Synced)
}

// isWell reports whether a cluster has what is wanted, and nothing is left to do.
func isWell(c *postgres.PostgresCluster) bool {
	s := c.Status
	return s.Phase == postgres.Running && s.Replicas == c.Spec.Size && len(s.Synced) == min(2, int(c.Spec.Size)) && s.ObservedGeneration == c.Generation
}

// settle works until the operator has nothing to do.
func (e *env) settle() []string {
	e.Helper()
	statuses := e.until(isWell)
	for e.reconcile().RequeueAfter < whileSettled {
		e.simulate()
	}
	e.requests.Take()
	return statuses
}

// recorded are the events since the last call.
func (e *env) recorded() (list []string) {
	for {
		select {
		case event := <-e.events.Events:
			list = append(list, event)
		default:
			return list
		}
	}
}
