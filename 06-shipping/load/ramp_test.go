package load

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatBends(t *testing.T) {
	for name, tc := range map[string]struct {
		step Step
		want string
	}{
		"nothing":                      {Step{Rate: 20, P99: 5, Busy: 1, Workers: 8, Most: 8}, "it does not bend at 20 Ats a second"},
		"the machine":                  {Step{Rate: 20, P99: 6, Busy: 0.95, Workers: 8, Most: 8}, "it bends at 20 Ats a second: the machine has no more time"},
		"the workers":                  {Step{Rate: 20, P99: 6, Busy: 0.5, Workers: 7.9, Most: 8}, "it bends at 20 Ats a second: the manager has no more workers"},
		"the workers, without a /proc": {Step{Rate: 20, P99: 6, Busy: math.NaN(), Workers: 7.9, Most: 8}, "it bends at 20 Ats a second: the manager has no more workers"},
		"something else":               {Step{Rate: 20, P99: 6, Busy: 0.5, Workers: 4, Most: 8}, "it bends at 20 Ats a second, and neither the machine nor the workers are at their end: look at how long a request takes"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.step.bends())
		})
	}
}
