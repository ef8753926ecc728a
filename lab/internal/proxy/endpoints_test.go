package proxy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// newPod returns one that is ready.
func newPod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one", UID: "one", Labels: map[string]string{"role": "primary"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "postgres", ContainerPort: 5432, Protocol: corev1.ProtocolTCP}}}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "127.5.0.2",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func notReady(p *corev1.Pod)    { p.Status.Conditions = nil }
func terminating(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }

func TestEndpoints(t *testing.T) {
	const takesNew, keepsOld = true, false
	number := corev1.ServicePort{Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(1234)}
	name := corev1.ServicePort{Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("postgres")}
	for sentence, tc := range map[string]struct {
		pod     *corev1.Pod
		port    corev1.ServicePort
		publish bool
		want    endpoints
	}{
		"a port by its number":                    {newPod(), number, false, endpoints{{"one", "127.5.0.2:1234"}: takesNew}},
		"a port by its name":                      {newPod(), name, false, endpoints{{"one", "127.5.0.2:5432"}: takesNew}},
		"a name that the pod does not have":       {newPod(func(p *corev1.Pod) { p.Spec.Containers[0].Ports = nil }), name, false, endpoints{}},
		"a pod that is not ready":                 {newPod(notReady), number, false, endpoints{}},
		"unless the Service wants such pods, too": {newPod(notReady), number, true, endpoints{{"one", "127.5.0.2:1234"}: takesNew}},
		"a pod that terminates":                   {newPod(terminating), number, false, endpoints{{"one", "127.5.0.2:1234"}: keepsOld}},
		"a pod that terminates and is not ready":  {newPod(terminating, notReady), number, false, endpoints{}},
		"a pod without an address":                {newPod(func(p *corev1.Pod) { p.Status.PodIP = "" }), number, true, endpoints{}},
		"a pod that has ended":                    {newPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), number, true, endpoints{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			service := &corev1.Service{Spec: corev1.ServiceSpec{PublishNotReadyAddresses: tc.publish}}
			assert.Equal(t, tc.want, endpointsOf(service, tc.port, []*corev1.Pod{tc.pod}))
		})
	}
}
