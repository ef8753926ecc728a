package lifecycle

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const (
	notATime = `the schedule "at seven" is not a time such as 2019-04-12T10:12:00Z; correct spec.schedule`
	taken    = "the pod example-at-pod exists, and was not made for this At; delete that pod, or create this At under another name"
	tooLate9 = "the command should have been started at 2019-04-12T10:12:00Z, or within 9 seconds; it will not be run"
)

func TestBeforeThePodExists(t *testing.T) {
	early := Observed{Now: due.Add(-time.Hour)}
	play(t, map[string]scene{
		"an hour early, it waits until the schedule": {
			late: -time.Hour,
			want: []string{
				"become PENDING",
				"Scheduled=True since 09:12:00, of 1: Waiting: the command will be run at 2019-04-12T10:12:00Z",
				"wake at 10:12:00",
			},
		},
		"while it waits there is nothing to write": {
			at: newAt(after(early)), late: -time.Minute,
			want: []string{"wake at 10:12:00"},
		},
		"a nanosecond early is early": {
			at: newAt(after(early)), late: -1,
			want: []string{"wake at 10:12:00"},
		},
		"the fraction of a schedule counts": {
			at: newAt(schedule("2019-04-12T10:12:00.25Z")),
			want: []string{
				"become PENDING",
				"Scheduled=True since 10:12:00, of 1: Waiting: the command will be run at 2019-04-12T10:12:00.25Z",
				"wake at 10:12:00.25",
			},
		},
		"the zone of a schedule counts": {
			at: newAt(schedule("2019-04-12T12:12:01+02:00")),
			want: []string{
				"become PENDING",
				"Scheduled=True since 10:12:00, of 1: Waiting: the command will be run at 2019-04-12T10:12:01Z",
				"wake at 10:12:01",
			},
		},
		"a later schedule is told, and waited for": {
			at: newAt(after(early), edited, schedule("2019-04-12T11:12:00Z")),
			want: []string{
				"become PENDING",
				"Scheduled=True since 09:12:00, of 2: Waiting: the command will be run at 2019-04-12T11:12:00Z",
				"wake at 11:12:00",
			},
		},
		"early, a pod in the way is not yet in the way": {
			at: newAt(after(early)), pod: newPod(foreign), late: -1,
			want: []string{"wake at 10:12:00"},
		},
		"at the schedule it starts": {
			at:   newAt(after(early)),
			want: []string{"create the pod"},
		},
		"a new At with a schedule in the past starts at once": {
			late: 7 * 365 * 24 * time.Hour,
			want: []string{"create the pod"},
		},
	})
}

func TestABadScheduleIsACondition(t *testing.T) {
	blocked := []string{
		"become PENDING",
		"Scheduled=False since 10:12:00, of 1: InvalidSchedule: " + notATime,
		"tell Warning InvalidSchedule: " + notATime,
	}
	bad := Observed{Now: due}
	play(t, map[string]scene{
		"it is told, and not tried again":      {at: newAt(schedule("at seven")), want: blocked},
		"it is told once":                      {at: newAt(schedule("at seven"), after(bad)), late: time.Hour},
		"when it is corrected, the At starts":  {at: newAt(schedule("at seven"), after(bad), schedule("2019-04-12T10:12:00Z"), edited), want: []string{"create the pod"}},
		"it does not stop what was started":    {at: newAt(schedule("at seven")), pod: newPod(), want: words(Decide(Observed{At: newAt(), Pod: newPod(), Now: due}))},
		"a long one is not repeated in length": {at: newAt(schedule("at seven" + strings.Repeat(" ", 1e6))), want: bluntly(blocked, "at seven"+strings.Repeat(" ", 56))},
	})
}

// bluntly puts another schedule into the lines.
func bluntly(lines []string, schedule string) []string {
	var changed []string
	for _, line := range lines {
		changed = append(changed, strings.ReplaceAll(line, "at seven", schedule))
	}
	return changed
}

func TestTheStartingDeadline(t *testing.T) {
	missed := func(at string) []string {
		return []string{
			"become DONE",
			"Scheduled=False since " + at + ", of 1: StartingDeadlineExceeded: " + tooLate9,
			"Failed=True since " + at + ", of 1: StartingDeadlineExceeded: " + tooLate9,
			"tell Warning StartingDeadlineExceeded: " + tooLate9,
		}
	}
	create := []string{"create the pod"}
	play(t, map[string]scene{
		"on time, it is started":                      {at: newAt(deadline(9)), want: create},
		"in the last second, it is started":           {at: newAt(deadline(9)), late: 10*time.Second - 1, want: create},
		"a second later, it is never run":             {at: newAt(deadline(9)), late: 10 * time.Second, want: missed("10:12:10")},
		"a day later, it is never run":                {at: newAt(deadline(9)), late: 24*time.Hour + time.Second, want: missed("10:12:01")},
		"0 leaves it the second of its schedule":      {at: newAt(deadline(0)), late: time.Second - 1, want: create},
		"one that is longer than time can be is fine": {at: newAt(deadline(math.MaxInt64)), late: 200 * 365 * 24 * time.Hour, want: create},
		"it does not stop what was started":           {at: newAt(deadline(9)), started: true, pod: newPod(), late: time.Hour, want: words(Decide(Observed{At: newAt(), Pod: newPod(), Now: due.Add(time.Hour)}))},
		"a pod in the way does not make it longer":    {at: newAt(deadline(9)), pod: newPod(foreign), late: 10 * time.Second, want: missed("10:12:10")},
	})
}

func TestAForeignPodIsNeverAdopted(t *testing.T) {
	inTheWay := []string{
		"become PENDING",
		"Scheduled=False since 10:12:00, of 1: PodNameTaken: " + taken,
		"tell Warning PodNameTaken: " + taken,
		"wake at 10:12:10",
	}
	told := after(Observed{Pod: newPod(foreign), Now: due})
	play(t, map[string]scene{
		"it is told, and looked at again in a while": {pod: newPod(foreign), want: inTheWay},
		"it is told once":                                {at: newAt(told), pod: newPod(foreign), late: time.Minute, want: []string{"wake at 10:13:10"}},
		"that it has ended does not matter":              {pod: newPod(foreign, exited("Succeeded", 0)), want: inTheWay},
		"another controller's is foreign":                {pod: newPod(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Job"; p.OwnerReferences[0].UID = "job" }), want: inTheWay},
		"another At's is foreign":                        {pod: newPod(func(p *corev1.Pod) { p.OwnerReferences[0].Name = "other"; p.OwnerReferences[0].UID = "other" }), want: inTheWay},
		"when it is gone, the At starts":                 {at: newAt(told), late: time.Minute, want: []string{"create the pod"}},
		"while it goes, there is nothing to tell":        {pod: newPod(foreign, deletedPod), want: []string{"wake at 10:12:10"}},
		"the deadline is looked at as soon as it passes": {at: newAt(deadline(3), told), pod: newPod(foreign), late: time.Second, want: []string{"wake at 10:12:04"}},
		"a later deadline is looked at later":            {at: newAt(deadline(60), told), pod: newPod(foreign), late: time.Second, want: []string{"wake at 10:12:11"}},
	})
}

func TestThePodOfAPredecessorIsWaitedFor(t *testing.T) {
	play(t, map[string]scene{
		"the garbage collector has not come yet": {pod: newPod(ofPredecessor), want: []string{"wake at 10:12:10"}},
		"it is on its way out":                   {pod: newPod(ofPredecessor, deletedPod), want: []string{"wake at 10:12:10"}},
		"it has ended, which means nothing":      {pod: newPod(ofPredecessor, exited("Succeeded", 0)), want: []string{"wake at 10:12:10"}},
		"but not for longer than the deadline":   {at: newAt(deadline(3)), pod: newPod(ofPredecessor), late: time.Second, want: []string{"wake at 10:12:04"}},
		"then the new one runs":                  {late: time.Second, want: []string{"create the pod"}},
	})
}

func TestScheduleReadsRFC3339(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2019-04-12T10:12:00Z":           due,
		"2019-04-12t10:12:00z":           due,
		"2019-04-12T12:12:00+02:00":      due,
		"2019-04-12T00:27:00-09:45":      due,
		"2019-04-12T10:12:00.000000001Z": due.Add(1),
	} {
		got, err := Schedule(newAt(schedule(text)))
		require.NoError(t, err, text)
		assert.True(t, want.Equal(got), "%s is %s", text, got)
	}
	for _, text := range []string{"", "at seven", "2019-04-12", "10:12:00", "2019-04-12T10:12:00", "2019-04-12 10:12:00Z", "2019-02-30T10:12:00Z", "2019-04-12T10:12:00ZTea"} {
		_, err := Schedule(newAt(schedule(text)))
		assert.ErrorContains(t, err, "correct spec.schedule", text)
	}
}
