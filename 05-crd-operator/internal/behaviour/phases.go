package behaviour

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

var phases = map[string]testCase{
	"the pod runs the command in a shell, and is restricted": func(s *env) {
		const command = `printf '%s\n' "two  words" | tr a-z A-Z; echo $HOME $(id -u) $$; exit 3`
		s.start()
		at := s.create("kettle", "09:00:00", func(at *cnat.At) { at.Spec.Command = command })
		pod := s.pod("kettle-pod")
		require.Len(s.t, pod.Spec.Containers, 1)
		const unexpanded = `printf '%s\n' "two  words" | tr a-z A-Z; echo $$HOME $$(id -u) $$$$; exit 3`
		assert.Equal(s.t, []string{"sh", "-c", unexpanded}, pod.Spec.Containers[0].Command, "the kubelet makes one $ of two")
		assert.Empty(s.t, pod.Spec.Containers[0].Args)
		assert.Equal(s.t, lifecycle.DefaultImage, pod.Spec.Containers[0].Image)
		assert.Equal(s.t, corev1.RestartPolicyOnFailure, pod.Spec.RestartPolicy)
		assert.Equal(s.t, map[string]string{"app": "kettle", "app.kubernetes.io/managed-by": "cnat"}, pod.Labels)
		assert.Equal(s.t, []metav1.OwnerReference{{
			APIVersion: "cnat.programming-kubernetes.info/v1alpha1", Kind: "At", Name: "kettle", UID: at.UID,
			Controller: new(true), BlockOwnerDeletion: new(true),
		}}, pod.OwnerReferences)

		// The server has judged: it refuses any other pod here.
		_, err := s.client.CoreV1().Pods(s.namespace).Create(s.t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "unrestricted"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}},
		}, metav1.CreateOptions{})
		require.True(s.t, apierrors.IsForbidden(err), "%v", err)
	},

	"the status shows how a command comes to a good end": func(s *env) {
		s.step = still
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.becomes("kettle", waiting)
		s.is("kettle", cnat.AtStatus{Phase: cnat.Pending, Conditions: []metav1.Condition{
			condition(cnat.Scheduled, metav1.ConditionTrue, "Waiting", "the command will be run at 2019-04-12T11:00:00Z", "10:00:00"),
		}})

		s.probe()
		s.jump("11:00:00")
		s.runs("kettle")
		s.probe()
		begun := metav1.NewTime(moment("11:00:00"))
		// Scheduled was True before, so it has seen no transition.
		started := condition(cnat.Scheduled, metav1.ConditionTrue, "Started", "the command was started", "10:00:00")
		s.is("kettle", cnat.AtStatus{Phase: cnat.Running, PodName: "kettle-pod", StartTime: &begun, Conditions: []metav1.Condition{started}})

		s.jump("11:30:02")
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		end := metav1.NewTime(moment("11:30:00")) // as the kubelet reported
		complete := condition(cnat.Complete, metav1.ConditionTrue, "Succeeded", "the command has ended with exit code 0", "11:30:02")
		s.is("kettle", cnat.AtStatus{
			Phase: cnat.Done, PodName: "kettle-pod", StartTime: &begun, CompletionTime: &end, ExitCode: new(int32(0)),
			Conditions: []metav1.Condition{started, complete},
		})
		s.recorded("kettle", "Normal Started", "Normal Succeeded")
	},
}

// is compares the whole status.
func (s *env) is(name string, want cnat.AtStatus) {
	s.t.Helper()
	got := s.get(name).Status
	for i, c := range got.Conditions {
		got.Conditions[i].LastTransitionTime = metav1.NewTime(c.LastTransitionTime.UTC())
	}
	for _, when := range []*metav1.Time{got.StartTime, got.CompletionTime} {
		if when != nil {
			when.Time = when.UTC()
		}
	}
	assert.Equal(s.t, want, got)
}

func condition(name string, value metav1.ConditionStatus, reason, message, clock string) metav1.Condition {
	return metav1.Condition{
		Type: name, Status: value, Reason: reason, Message: message,
		ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(moment(clock)),
	}
}
