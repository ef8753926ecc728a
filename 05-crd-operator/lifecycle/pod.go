package lifecycle

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// ManagedBy is the label that all pods of the operator bear, and PodSelector
// selects them. The server then sends these pods to the operator, and no others.
const (
	ManagedBy   = "app.kubernetes.io/managed-by"
	Operator    = "cnat"
	PodSelector = ManagedBy + "=" + Operator
)

const generationAnnotation = cnat.GroupName + "/generation"

// container is the name of the only container that DesiredPod asks for. A cluster
// may add some of its own.
const container = "command"

// nobody is the user that may do nothing, on every Unix.
const nobody = 65534

// PodName is the name of an At's pod. It follows from that of the At, and that is
// what makes the pod the only one: the server refuses a second pod of one name,
// whoever asks for it.
func PodName(at *cnat.At) string { return at.Name + "-pod" }

// DesiredPod is the pod that runs the command. It meets the restricted profile of
// the Pod Security Standards.
func DesiredPod(at *cnat.At) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: at.Namespace,
			Name:      PodName(at),
			Labels:    map[string]string{"app": at.Name, ManagedBy: Operator},
			Annotations: map[string]string{
				generationAnnotation: strconv.FormatInt(at.Generation, 10),
			},
			// When the At is deleted, the garbage collector deletes the pod.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(at, cnat.SchemeGroupVersion.WithKind("At"))},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyOnFailure,
			AutomountServiceAccountToken: new(false), // the command has no business with the API server
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				RunAsUser:      new(int64(nobody)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:    container,
				Image:   "busybox",
				Command: []string{"sh", "-c", at.Spec.Command},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// IsPodOf reports whether the pod was made for this At, and not for one of the
// same name that came before it: the owner reference has the UID.
func IsPodOf(pod *corev1.Pod, at *cnat.At) bool {
	return pod != nil && metav1.IsControlledBy(pod, at)
}

// AtOf is the name of the At that a pod may be of, in the pod's namespace. It may
// be that of an At that is gone.
func AtOf(pod *corev1.Pod) (name string, ok bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "At" || owner.APIVersion != cnat.SchemeGroupVersion.String() {
		return "", false
	}
	return owner.Name, true
}

// isOfNamesake reports whether the pod was made for another At of this name. That
// one is gone, or the two could not have one name.
func isOfNamesake(pod *corev1.Pod, at *cnat.At) bool {
	name, ok := AtOf(pod)
	return ok && name == at.Name && !IsPodOf(pod, at)
}
