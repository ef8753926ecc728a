package lifecycle

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Finalizer keeps the pod from vanishing before its At is DONE. A pod that is
// deleted stays, Terminating, until the operator has seen it and removes this.
const Finalizer = cnat.GroupName + "/tracking"

// container is the name of the only container that DesiredPod asks for. A cluster
// may add some of its own.
const container = "command"

// nobody is the user that may do nothing, on every Unix.
const nobody = 65534

const podSuffix = "-pod"

// PodName is the name of the pod of the At of this name. It follows from that of the
// At, and that is what makes the pod the only one: the server refuses a second pod of
// one name, from any client.
func PodName(at string) string { return at + podSuffix }

// AtOf is the name of the At that a pod may be of, in the pod's namespace. There
// may be no such At. It goes by the name of the pod, not by its owner reference:
// kubectl delete --cascade=orphan removes that from the pod, and the finalizer
// is still to be removed.
func AtOf(pod metav1.Object) (name string, ok bool) {
	return strings.CutSuffix(pod.GetName(), podSuffix)
}

// DefaultImage is what commands run in, unless the operator is told another. It has a
// version: what runs does not change by itself, and no node asks a registry each time.
const DefaultImage = "busybox:1.37.0"

// DesiredPod is the pod that runs the command in an image. It meets the restricted profile
// of the Pod Security Standards.
func DesiredPod(at *cnat.At, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: at.Namespace,
			Name:      PodName(at.Name),
			Labels:    map[string]string{"app": at.Name, ManagedBy: Operator},
			// When the pod is deleted, it stays until the operator has seen how it ended.
			Finalizers: []string{Finalizer},
			// When the At is deleted, the garbage collector deletes the pod.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(at, cnat.SchemeGroupVersion.WithKind("At"))},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyOnFailure,
			// The command has no business with the API server.
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				RunAsUser:      new(int64(nobody)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:    container,
				Image:   image,
				Command: []string{"sh", "-c", unexpanded(at.Spec.Command)},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// unexpanded is what the kubelet expands to this text. In a command, it replaces $(HOME)
// with a variable of the container, and $$ with $. To a shell, the first is a command to
// run, and the second is its own number.
func unexpanded(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// IsPodOf reports whether the pod was created for this At, and not for one of the
// same name that came before it: the owner reference has the UID.
func IsPodOf(pod *corev1.Pod, at *cnat.At) bool {
	return pod != nil && at != nil && metav1.IsControlledBy(pod, at)
}

// isOfNamesake reports whether the pod was created for another At of this name.
// That one is gone, or the two could not have one name.
func isOfNamesake(pod *corev1.Pod, at *cnat.At) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "At" && owner.APIVersion == cnat.SchemeGroupVersion.String() &&
		owner.Name == at.Name && owner.UID != at.UID
}

func hasFinalizer(pod *corev1.Pod) bool {
	return pod != nil && slices.Contains(pod.Finalizers, Finalizer)
}

// FinalizerPatch is the strategic merge patch that removes our finalizer, and no
// other. The UID is a precondition: another pod of this name is refused, see IsConflict.
func FinalizerPatch(pod *corev1.Pod) []byte {
	return fmt.Appendf(nil, `{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, pod.UID, Finalizer)
}

// IsConflict reports whether the server has refused a write because the object is another
// by now: of a newer version, or of another UID. To name another UID in a patch is to
// change it, for the server, so it answers 422 Invalid, and not 409 Conflict.
func IsConflict(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

const podDeleted = "PodDeleted"

// isAbandoned reports whether the pod was deleted and no kubelet will say how it
// ended: it had not been scheduled to a node, or it was deleted with --force. Of
// other pods that are deleted, the kubelet reports the end.
//
// It is what isPodFailed is in the Job controller. That one waits for no kubelet,
// unless the podReplacementPolicy of the Job is Failed.
func isAbandoned(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && (pod.Spec.NodeName == "" || pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0)
}

// terminated is how the command ended; nil if nobody knows.
func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container {
			return status.State.Terminated
		}
	}
	return nil
}

// hasSucceeded reports whether the command has ended with exit code 0, after which the kubelet does
// not run it again. The phase is about all containers: a sidecar that a webhook has added keeps the
// pod Running, or makes it Failed.
func hasSucceeded(pod *corev1.Pod) bool {
	t := terminated(pod)
	return pod.Status.Phase == corev1.PodSucceeded || t != nil && t.ExitCode == 0
}

// reasonForm is what conditions and events demand of a reason. That of a pod may
// be anything.
var reasonForm = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]{0,126}[A-Za-z0-9_])?$`)

// failure says why the pod has failed. A command that fails is run again in its
// pod, so most often somebody has deleted the pod, or the node was short of
// something.
func failure(pod *corev1.Pod) (reason, message string) {
	switch {
	case reasonForm.MatchString(pod.Status.Reason):
		reason = pod.Status.Reason
	case pod.DeletionTimestamp != nil:
		reason = podDeleted
	default:
		reason = "CommandFailed"
	}
	return reason, shorten(cmp.Or(pod.Status.Message, ending(pod)))
}

// ending says in words how the command failed.
func ending(pod *corev1.Pod) string {
	words := "the pod has failed before the command had ended"
	if t := terminated(pod); t != nil {
		words = fmt.Sprintf("the command has ended with exit code %d", t.ExitCode)
	}
	if pod.DeletionTimestamp != nil {
		words += ", because the pod was deleted"
	}
	return words
}

// shorten cuts a message to the 1024 bytes that an event may have.
func shorten(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), 1024)], "")
}
