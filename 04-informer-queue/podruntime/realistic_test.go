package podruntime

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// fill makes a namespace with so many realistic pods, all of which run.
func fill(b *testing.B, client kubernetes.Interface, namespace string, pods int) {
	b.Helper()
	createNamespaces(b, client, namespace)
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(16)
	for i := range pods {
		group.Go(func() error {
			spec, status := realistic(i)
			created, err := client.CoreV1().Pods(namespace).Create(ctx, spec, metav1.CreateOptions{FieldManager: "kube-controller-manager"})
			if err != nil {
				return err
			}
			created.Status = status
			created, err = client.CoreV1().Pods(namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{FieldManager: "kubelet"})
			if err == nil && (created.Size() < 3896 || created.Size() > 4296) {
				err = fmt.Errorf("the pod that was to be 4 KiB has %d bytes", created.Size())
			}
			return err
		})
	}
	require.NoError(b, group.Wait())
}

// realistic is a pod of a Deployment as a cluster has thousands: one container
// with a probe, some environment and two volumes. With the managedFields that the
// server adds it has 4 KiB.
func realistic(i int) (*corev1.Pod, corev1.PodStatus) {
	name := fmt.Sprintf("checkout-service-6f7c9d8b5d-%05d", i)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{"app.kubernetes.io/name": "checkout-service", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6f7c9d8b5d"},
			Annotations: map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-11-20T09:12:44Z"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "checkout-service-6f7c9d8b5d",
				UID: "0c2a5c7e-5c2e-4b7e-9f43-3f1f0f2f7a11", Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: "default",
			Containers: []corev1.Container{{
				Name:  "main",
				Image: "registry.example.com/shop/checkout-service:v1.42.3",
				Args:  []string{"--listen=:8080", "--log-level=info"},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				Env: []corev1.EnvVar{
					{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
					{Name: "DATABASE_HOST", Value: "postgres.shop.svc.cluster.local"},
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
				},
				ReadinessProbe: &corev1.Probe{
					ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString("http")}},
					PeriodSeconds: 10,
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/checkout", ReadOnly: true}, {Name: "scratch", MountPath: "/tmp"}},
			}},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "checkout-config"}}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
	return pod, realisticStatus(i)
}

func realisticStatus(i int) corev1.PodStatus {
	start := time.Now().Add(-time.Duration(i) * time.Second)
	status := runs(start)
	status.PodIP = fmt.Sprintf("10.%d.%d.%d", 1+i>>16, i>>8&255, i&255)
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	status.HostIP = "192.168.0.17"
	for _, condition := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(start)})
	}
	status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", Ready: true, Started: new(true),
		Image:       "registry.example.com/shop/checkout-service:v1.42.3",
		ImageID:     "registry.example.com/shop/checkout-service@sha256:7ae7a6d6d31e3d3c2a2b8ec8a7ff05ac3c4df4a4b7f6c3f9c3f4b1a1d2e3f405",
		ContainerID: fmt.Sprintf("containerd://%064x", i),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start)}},
	}}
	return status
}
