package lifecycle

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	notATime = `the schedule "at seven" is not a time such as 2019-04-12T10:12:00Z; correct spec.schedule`
	tooLate9 = "the command should have been started at 2019-04-12T10:12:00Z, or within 9 seconds; it will not be run"
)

// starts is what an At becomes that had no condition, and is due.
func starts(now string) []string {
	return []string{
		"become RUNNING in example-at-pod from " + now,
		"Scheduled=True since " + now + ", of 1: Started: the command was started",
	}
}

func TestBeforeThePodExists(t *testing.T) {
	early := Observed{Now: due.Add(-time.Hour)}
	// waits is a new At at this time, of its generation, that is to be run at another.
	waits := func(since string, generation int, schedule, wake string) []string {
		return []string{
			"become PENDING",
			fmt.Sprintf("Scheduled=True since %s, of %d: Waiting: the command will be run at 2019-04-12T%sZ", since, generation, schedule),
			"wake at " + wake,
		}
	}
	wakes := []string{"wake at 10:12:00"}
	run(t, map[string]testCase{
		"an hour early, it waits until the schedule":    {late: -time.Hour, want: waits("09:12:00", 1, "10:12:00", "10:12:00")},
		"while it waits there is nothing to write":      {at: newAt(after(early)), late: -time.Minute, want: wakes},
		"a nanosecond early is early":                   {at: newAt(after(early)), late: -1, want: wakes},
		"the fraction of a schedule counts":             {at: newAt(schedule("2019-04-12T10:12:00.25Z")), want: waits("10:12:00", 1, "10:12:00.25", "10:12:00.25")},
		"the zone of a schedule counts":                 {at: newAt(schedule("2019-04-12T12:12:01+02:00")), want: waits("10:12:00", 1, "10:12:01", "10:12:01")},
		"a later schedule is reported, and waited for":  {at: newAt(after(early), edited, schedule("2019-04-12T11:12:00Z")), want: waits("09:12:00", 2, "11:12:00", "11:12:00")},
		"early, a pod in the way is not yet in the way": {at: newAt(after(early)), pod: newPod(foreign, released), late: -1, want: wakes},
		"at the schedule it becomes RUNNING, before there is a pod": {at: newAt(after(early)), want: []string{
			"become RUNNING in example-at-pod from 10:12:00",
			"Scheduled=True since 09:12:00, of 1: Started: the command was started",
		}},
		"when it starts counts in whole seconds":              {late: 999 * time.Millisecond, want: starts("10:12:00")},
		"a new At with a schedule in the past starts at once": {late: 365 * 24 * time.Hour, want: starts("10:12:00")},
		"a pod in the way shows when ours is created":         {pod: newPod(foreign, released), want: starts("10:12:00")},
	})
}

func TestABadScheduleIsACondition(t *testing.T) {
	blocked := []string{
		"become PENDING",
		"Scheduled=False since 10:12:00, of 1: InvalidSchedule: " + notATime,
		"record Warning InvalidSchedule: " + notATime,
	}
	bad := Observed{Now: due}
	run(t, map[string]testCase{
		"it is reported, and not tried again": {at: newAt(schedule("at seven")), want: blocked},
		"it is reported once":                 {at: newAt(schedule("at seven"), after(bad)), late: time.Hour},
		"when it is corrected, the At starts": {at: newAt(schedule("at seven"), after(bad), schedule("2019-04-12T10:12:00Z"), edited), want: []string{
			"become RUNNING in example-at-pod from 10:12:00",
			"Scheduled=True since 10:12:00, of 2: Started: the command was started",
		}},
		"it does not stop what was started":    {at: newAt(running, schedule("at seven")), want: create},
		"a long one is not repeated in length": {at: newAt(schedule("at seven" + strings.Repeat(" ", 1e6))), want: strings.Split(strings.ReplaceAll(strings.Join(blocked, "\n"), "at seven", "at seven"+strings.Repeat(" ", 56)), "\n")},
	})
}

func TestTheStartingDeadline(t *testing.T) {
	missed := func(at string) []string {
		return []string{
			"become DONE",
			"Scheduled=False since " + at + ", of 1: StartingDeadlineExceeded: " + tooLate9,
			"Failed=True since " + at + ", of 1: StartingDeadlineExceeded: " + tooLate9,
			"record Warning StartingDeadlineExceeded: " + tooLate9,
		}
	}
	start := starts("10:12:00")
	run(t, map[string]testCase{
		"on time, it is started":                      {at: newAt(deadlineSeconds(9)), want: start},
		"in the last second, it is started":           {at: newAt(deadlineSeconds(9)), late: 10*time.Second - 1, want: starts("10:12:09")},
		"a second later, it is never run":             {at: newAt(deadlineSeconds(9)), late: 10 * time.Second, want: missed("10:12:10")},
		"a day later, it is never run":                {at: newAt(deadlineSeconds(9)), late: 24*time.Hour + time.Second, want: missed("10:12:01")},
		"0 leaves it the second of its schedule":      {at: newAt(deadlineSeconds(0)), late: time.Second - 1, want: start},
		"one that is longer than time can be is fine": {at: newAt(deadlineSeconds(math.MaxInt64)), late: 200 * 365 * 24 * time.Hour, want: start},
		"it does not stop what was started":           {at: newAt(deadlineSeconds(9), running), pod: newPod(), late: time.Hour},
		"a pod in the way does not make it longer":    {at: newAt(deadlineSeconds(9)), pod: newPod(foreign, released), late: 10 * time.Second, want: missed("10:12:10")},
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
