package lifecycle

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

func TestThePodThatIsWanted(t *testing.T) {
	at := newAt(func(at *cnat.At) { at.Spec.Command = `echo "a  b" | tr a-z A-Z` })
	assert.Equal(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:  "harbour",
			Name:       "example-at-pod",
			Labels:     map[string]string{"app": "example-at", "app.kubernetes.io/managed-by": "cnat"},
			Finalizers: []string{"cnat.programming-kubernetes.info/tracking"},
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
				Image:   "registry.example/busybox:1",
				Command: []string{"sh", "-c", `echo "a  b" | tr a-z A-Z`},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}, DesiredPod(at, "registry.example/busybox:1"))
	assert.Equal(t, "app.kubernetes.io/managed-by=cnat", PodSelector, "it selects the label that the pod bears")
}

// The kubelet makes one $ of two, and leaves $(X) alone after that: the shell gets what was written.
func TestTheCommandReachesTheShellAsWritten(t *testing.T) {
	for command, want := range map[string]string{
		"echo YAY":                "echo YAY",
		"echo pid=$$ $HOME":       "echo pid=$$$$ $$HOME",
		"echo $(hostname) $$(X)$": "echo $$(hostname) $$$$(X)$$",
	} {
		pod := DesiredPod(newAt(func(at *cnat.At) { at.Spec.Command = command }), DefaultImage)
		assert.Equal(t, []string{"sh", "-c", want}, pod.Spec.Containers[0].Command)
	}
}

func TestAPodIsOfTheAtThatItWasMadeFor(t *testing.T) {
	assert.True(t, IsPodOf(newPod(), newAt()))
	assert.True(t, IsPodOf(newPod(), newAt(edited)))
	assert.False(t, IsPodOf(newPod(), nil))
	assert.False(t, IsPodOf(nil, newAt()))
	assert.False(t, IsPodOf(newPod(foreign), newAt()))
	assert.False(t, IsPodOf(newPod(ofPredecessor), newAt()))
	assert.False(t, IsPodOf(newPod(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), newAt()), "owned, but not controlled")
}

func TestTheNameOfTheAtFollowsFromThatOfThePod(t *testing.T) {
	for pod, want := range map[string]string{"example-at-pod": "example-at", "my-pod-pod": "my-pod", "example-at": ""} {
		got, ok := AtOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}})
		assert.Equal(t, want != "", ok, pod)
		if ok {
			assert.Equal(t, want, got)
		}
	}
	name, ok := AtOf(newPod(foreign))
	assert.True(t, ok, "kubectl delete --cascade=orphan takes the owner reference")
	assert.Equal(t, "example-at", name)
}

func TestWhatIsAConflict(t *testing.T) {
	pods, pod := schema.GroupResource{Resource: "pods"}, schema.GroupKind{Kind: "Pod"}
	uid := field.Invalid(field.NewPath("metadata", "uid"), "two", "field is immutable")
	for sentence, tc := range map[string]struct {
		err  error
		want bool
	}{
		"another version":           {apierrors.NewConflict(pods, "yay", errors.New("it has changed")), true},
		"another UID":               {apierrors.NewInvalid(pod, "yay", field.ErrorList{uid}), true},
		"wrapped":                   {fmt.Errorf("removing: %w", apierrors.NewInvalid(pod, "yay", field.ErrorList{uid})), true},
		"what can never be written": {apierrors.NewInvalid(pod, "yay", field.ErrorList{field.Required(field.NewPath("spec"), "")}), false},
		"invalid, nobody knows how": {&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid}}, false},
		"what is forbidden":         {apierrors.NewForbidden(pods, "yay", errors.New("no")), false},
		"an error of another kind":  {errors.New("no network"), false},
		"none":                      {nil, false},
	} {
		assert.Equal(t, tc.want, IsConflict(tc.err), sentence)
	}
}
