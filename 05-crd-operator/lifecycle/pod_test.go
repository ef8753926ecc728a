package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

func TestThePodThatIsWanted(t *testing.T) {
	at := newAt(func(at *cnat.At) { at.Generation = 12; at.Spec.Command = `echo "a  b" | tr a-z A-Z` })
	assert.Equal(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   "harbour",
			Name:        "example-at-pod",
			Labels:      map[string]string{"app": "example-at", "app.kubernetes.io/managed-by": "cnat"},
			Annotations: map[string]string{"cnat.programming-kubernetes.info/generation": "12"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "cnat.programming-kubernetes.info/v1alpha1", Kind: "At", Name: "example-at", UID: "one",
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyOnFailure,
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				RunAsUser:      new(int64(65534)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:    "command",
				Image:   "busybox",
				Command: []string{"sh", "-c", `echo "a  b" | tr a-z A-Z`},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}, DesiredPod(at))
	assert.Equal(t, "app.kubernetes.io/managed-by=cnat", PodSelector, "it selects the label that the pod bears")
}

func TestAPodIsOfTheAtThatItWasMadeFor(t *testing.T) {
	assert.True(t, IsPodOf(newPod(), newAt()))
	assert.True(t, IsPodOf(newPod(), newAt(edited)))
	assert.False(t, IsPodOf(nil, newAt()))
	assert.False(t, IsPodOf(newPod(foreign), newAt()))
	assert.False(t, IsPodOf(newPod(ofPredecessor), newAt()))
	assert.False(t, IsPodOf(newPod(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), newAt()), "owned, but not controlled")
}

func TestTheNameOfTheAtStandsInThePod(t *testing.T) {
	owner := func(change func(*metav1.OwnerReference)) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { change(&pod.OwnerReferences[0]) }
	}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"its own":                           {newPod(), "example-at"},
		"the At that it was of is gone":     {newPod(ofPredecessor), "example-at"},
		"the pod's name does not matter":    {newPod(func(p *corev1.Pod) { p.Name = "other" }), "example-at"},
		"it has no owner":                   {newPod(foreign), ""},
		"its owner does not control it":     {newPod(owner(func(o *metav1.OwnerReference) { o.Controller = new(false) })), ""},
		"its owner is of another kind":      {newPod(owner(func(o *metav1.OwnerReference) { o.Kind = "Job" })), ""},
		"its owner is an At of another API": {newPod(owner(func(o *metav1.OwnerReference) { o.APIVersion = "batch/v1" })), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := AtOf(test.pod)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.want != "", ok)
		})
	}
}
