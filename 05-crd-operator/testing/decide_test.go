package layers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// decisions are what an At becomes that nobody has reconciled yet.
var decisions = map[string]struct {
	late     time.Duration
	deadline *int64 // in seconds
	want     cnat.AtPhase
}{
	"a nanosecond early, it waits": {late: -1, want: cnat.Pending},
	"on time, it runs":             {late: 0, want: cnat.Running},
	"a year late, it runs":         {late: 365 * 24 * time.Hour, want: cnat.Running},

	"in the deadline's last nanosecond":  {late: 10*time.Second - 1, deadline: new(int64(9)), want: cnat.Running},
	"a nanosecond later, it's never run": {late: 10 * time.Second, deadline: new(int64(9)), want: cnat.Done},
}

// decide returns the phase that lifecycle decides on.
func decide(at *cnat.At, late time.Duration) cnat.AtPhase {
	schedule, err := lifecycle.Schedule(at)
	if err != nil {
		return ""
	}
	return lifecycle.Decide(lifecycle.Observed{At: at, Now: schedule.Add(late)}).Status.Phase
}

func TestDecide(t *testing.T) {
	for name, tc := range decisions {
		t.Run(name, func(t *testing.T) {
			at := newAt(past)
			at.Spec.StartingDeadlineSeconds = tc.deadline
			assert.Equal(t, tc.want, decide(at, tc.late))
		})
	}
}
