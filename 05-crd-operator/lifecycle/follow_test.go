package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

const (
	started = "Scheduled=True since 10:12:02, of 1: Started: the command was started"
	deleted = "the pod example-at-pod was deleted before the command had ended; it is not run again"
)

func TestThePodIsFollowed(t *testing.T) {
	runs := []string{
		"become RUNNING in example-at-pod from 10:12:01",
		started,
		"tell Normal Started: the pod example-at-pod runs the command",
	}
	running := after(Observed{Pod: newPod(), Now: due.Add(2 * time.Second)})
	succeeded := newPod(exited(corev1.PodSucceeded, 0))
	complete := []string{
		"become DONE in example-at-pod from 10:12:01 to 10:12:05 with 0",
		started,
		"Complete=True since 10:12:06, of 1: Succeeded: the command has ended with exit code 0",
		"tell Normal Succeeded: the command has ended with exit code 0",
	}
	play(t, map[string]scene{
		"a pod that is there makes it RUNNING":           {pod: newPod(), late: 2 * time.Second, want: runs},
		"a pod that waits for its image does, too":       {pod: newPod(in(corev1.PodPending)), late: 2 * time.Second, want: runs},
		"a pod whose node is silent does, too":           {pod: newPod(in(corev1.PodUnknown)), late: 2 * time.Second, want: runs},
		"it has not to be remembered":                    {pod: newPod(), started: true, late: 2 * time.Second, want: runs},
		"a clock that was set back does not matter":      {pod: newPod(), late: 2*time.Second - 24*time.Hour, want: runs},
		"while it runs, there is nothing to write":       {at: newAt(running), pod: newPod(in(corev1.PodRunning)), late: time.Hour},
		"that it is being deleted is not the end":        {at: newAt(running), pod: newPod(in(corev1.PodRunning), deletedPod), late: time.Hour},
		"a new deadline changes nothing any more":        {at: newAt(running, edited, deadline(1)), pod: newPod(in(corev1.PodRunning)), late: time.Hour},
		"when it has succeeded, it is DONE":              {at: newAt(running), pod: succeeded, late: 6 * time.Second, want: complete},
		"a clock that is set back does not run it again": {at: newAt(running), pod: newPod(), late: -time.Hour},
		"the end may be all that is ever seen": {pod: succeeded, late: 6 * time.Second, want: []string{
			complete[0], strings.Replace(started, ":02", ":06", 1), complete[2], complete[3],
		}},
		"without a report from the node, it ends when that is seen": {at: newAt(running), pod: newPod(in(corev1.PodSucceeded)), late: 6*time.Second + 1, want: []string{
			"become DONE in example-at-pod from 10:12:01 to 10:12:06", complete[1], complete[2], complete[3],
		}},
		"a spec that was changed under it is not the one that ran": {at: newAt(edited), pod: newPod(), late: 2 * time.Second, want: runs},
	})
}

func TestAPodThatFails(t *testing.T) {
	running := after(Observed{Pod: newPod(), Now: due.Add(2 * time.Second)})
	fails := func(exit, reason, message string) []string {
		return []string{
			"become DONE in example-at-pod from 10:12:01 to " + exit,
			started,
			"Failed=True since 10:12:06, of 1: " + reason + ": " + message,
			"tell Warning " + reason + ": " + message,
		}
	}
	long := strings.Repeat("é", 600)
	scenes := map[string]scene{
		"says its exit code":                            {pod: newPod(exited(corev1.PodFailed, 3)), want: fails("10:12:05 with 3", "CommandFailed", "the command has ended with exit code 3")},
		"may have none":                                 {pod: newPod(in(corev1.PodFailed)), want: fails("10:12:06", "CommandFailed", "the pod has failed before the command had ended")},
		"may say why":                                   {pod: newPod(in(corev1.PodFailed), failedBecause("Evicted", "low on memory")), want: fails("10:12:06", "Evicted", "low on memory")},
		"may say why while it goes":                     {pod: newPod(in(corev1.PodFailed), deletedPod, failedBecause("Evicted", "low on memory")), want: fails("10:12:06", "Evicted", "low on memory")},
		"because it was deleted":                        {pod: newPod(exited(corev1.PodFailed, 143), deletedPod), want: fails("10:12:05 with 143", "PodDeleted", "the command has ended with exit code 143, because the pod was deleted")},
		"with a reason that no condition may have":      {pod: newPod(in(corev1.PodFailed), failedBecause("out of luck", "bad luck")), want: fails("10:12:06", "CommandFailed", "bad luck")},
		"with a reason that is longer than an event's":  {pod: newPod(in(corev1.PodFailed), failedBecause(strings.Repeat("R", 129), "bad luck")), want: fails("10:12:06", "CommandFailed", "bad luck")},
		"with a message that is longer than an event's": {pod: newPod(in(corev1.PodFailed), failedBecause("Long", "x"+long)), want: fails("10:12:06", "Long", ("x" + long)[:1023])},
	}
	for name, s := range scenes {
		s.at, s.late = newAt(running), 6*time.Second
		scenes[name] = s
	}
	play(t, scenes)
}

func TestAPodThatWasStartedIsNeverCreatedAgain(t *testing.T) {
	running := after(Observed{Pod: newPod(), Now: due.Add(2 * time.Second)})
	gone := []string{
		"become DONE in example-at-pod from 10:12:01 to 10:12:06",
		started,
		"Failed=True since 10:12:06, of 1: PodDeleted: " + deleted,
		"tell Warning PodDeleted: " + deleted,
	}
	never := []string{
		"become DONE in example-at-pod to 10:12:06", strings.Replace(started, ":02", ":06", 1), gone[2], gone[3],
	}
	play(t, map[string]scene{
		"when it is deleted by hand":                {at: newAt(running), late: 6 * time.Second, want: gone},
		"when somebody puts another in its place":   {at: newAt(running), pod: newPod(foreign, exited(corev1.PodSucceeded, 0)), late: 6 * time.Second, want: gone},
		"when it is gone before its status was set": {started: true, late: 6 * time.Second, want: never},
	})
	assert.False(t, Decide(Observed{At: newAt(running), Now: due.Add(-time.Hour)}).CreatePod, "not even by a clock that was set back")
}
