package lifecycle

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

const (
	started = "Scheduled=True since 10:12:01, of 1: Started: the command was started"
	deleted = "the pod example-at-pod was deleted before the command had ended; it is not run again"
)

func TestThePodIsFollowed(t *testing.T) {
	complete := []string{
		"become DONE in example-at-pod from 10:12:01 to 10:12:05 with 0",
		started,
		"Complete=True since 10:12:06, of 1: Succeeded: the command has ended with exit code 0",
		"record Normal Succeeded: the command has ended with exit code 0",
	}
	atOnce := append([]string{strings.Replace(complete[0], "10:12:05", "10:12:01", 1)}, complete[1:]...)
	run(t, map[string]testCase{
		"a node whose clock is slow":                        {at: newAt(running), pod: newPod(exited(corev1.PodSucceeded, 0), nodeBehind), late: 6 * time.Second, want: atOnce},
		"while it runs, there is nothing to write":          {at: newAt(running), pod: newPod(in(corev1.PodRunning)), late: time.Hour},
		"while it waits for its image, there is not either": {at: newAt(running), pod: newPod(in(corev1.PodPending)), late: time.Hour},
		"a node that is silent is not the end":              {at: newAt(running), pod: newPod(in(corev1.PodUnknown)), late: time.Hour},
		"a clock that is set back does not run it again":    {at: newAt(running), pod: newPod(), late: -time.Hour},
		"what was in the way is not any more": {at: newAt(running, blockedByQuota), pod: newPod(), late: 2 * time.Second, want: []string{
			"become RUNNING in example-at-pod from 10:12:01",
			strings.Replace(started, ":01", ":02", 1),
		}},
		"when it has succeeded, it is DONE":        {at: newAt(running), pod: newPod(exited(corev1.PodSucceeded, 0)), late: 6 * time.Second, want: complete},
		"that it was deleted then does not matter": {at: newAt(running), pod: newPod(exited(corev1.PodSucceeded, 0), deletedPod), late: 6 * time.Second, want: complete},
		"without a report from the node, it ends when that is seen": {at: newAt(running), pod: newPod(in(corev1.PodSucceeded)), late: 6*time.Second + 1, want: []string{
			"become DONE in example-at-pod from 10:12:01 to 10:12:06", complete[1], complete[2], complete[3],
		}},
	})
}

func nodeBehind(p *corev1.Pod) {
	p.Status.ContainerStatuses[1].State.Terminated.FinishedAt = metav1.NewTime(due.Add(-time.Hour))
}

func blockedByQuota(at *cnat.At) {
	d, _ := Refused(Observed{At: at, Now: due.Add(time.Second)}, errQuota)
	at.Status = *d.Status
}

func TestAPodThatFails(t *testing.T) {
	fails := func(exit, reason, message string) []string {
		return []string{
			"become DONE in example-at-pod from 10:12:01 to " + exit,
			started,
			"Failed=True since 10:12:06, of 1: " + reason + ": " + message,
			"record Warning " + reason + ": " + message,
		}
	}
	long := strings.Repeat("é", 600)
	cases := map[string]testCase{
		"has its exit code":                             {pod: newPod(exited(corev1.PodFailed, 3)), want: fails("10:12:05 with 3", "CommandFailed", "the command has ended with exit code 3")},
		"may have none":                                 {pod: newPod(in(corev1.PodFailed)), want: fails("10:12:06", "CommandFailed", "the pod has failed before the command had ended")},
		"may have a reason":                             {pod: newPod(in(corev1.PodFailed), failedBecause("Evicted", "low on memory")), want: fails("10:12:06", "Evicted", "low on memory")},
		"may have a reason while it goes":               {pod: newPod(in(corev1.PodFailed), deletedPod, failedBecause("Evicted", "low on memory")), want: fails("10:12:06", "Evicted", "low on memory")},
		"because it was deleted":                        {pod: newPod(exited(corev1.PodFailed, 143), deletedPod), want: fails("10:12:05 with 143", "PodDeleted", "the command has ended with exit code 143, because the pod was deleted")},
		"with a reason that no condition may have":      {pod: newPod(in(corev1.PodFailed), failedBecause("out of luck", "bad luck")), want: fails("10:12:06", "CommandFailed", "bad luck")},
		"with a reason that is longer than an event's":  {pod: newPod(in(corev1.PodFailed), failedBecause(strings.Repeat("R", 129), "bad luck")), want: fails("10:12:06", "CommandFailed", "bad luck")},
		"with a message that is longer than an event's": {pod: newPod(in(corev1.PodFailed), failedBecause("Long", "x"+long)), want: fails("10:12:06", "Long", ("x" + long)[:1023])},
	}
	for name, s := range cases {
		s.at, s.late = newAt(running), 6*time.Second
		cases[name] = s
	}
	run(t, cases)
}

func TestAPodThatIsDeleted(t *testing.T) {
	on := func(node string, grace int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.NodeName, p.DeletionGracePeriodSeconds = node, &grace }
	}
	gone := []string{
		"become DONE in example-at-pod from 10:12:01 to 10:12:06",
		started,
		"Failed=True since 10:12:06, of 1: PodDeleted: " + deleted,
		"record Warning PodDeleted: " + deleted,
	}
	const late = 6 * time.Second
	run(t, map[string]testCase{
		"before it was scheduled is gone":                 {at: newAt(running), pod: newPod(deletedPod, on("", 0)), late: late, want: gone},
		"with force is gone: nobody waits for its node":   {at: newAt(running), pod: newPod(in(corev1.PodRunning), deletedPod, on("node", 0)), late: late, want: gone},
		"on a node is followed until the kubelet reports": {at: newAt(running), pod: newPod(in(corev1.PodRunning), deletedPod, on("node", 30)), late: late},
	})
}
