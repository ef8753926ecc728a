package load

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatGrows(t *testing.T) {
	const length = 600
	line := func(from, perSecond float64) func(int) float64 {
		return func(i int) float64 { return from + perSecond*float64(i) }
	}
	flat := series("manager-1", length, line(100, 0))
	for name, tc := range map[string]struct {
		seconds int
		heap    []Point
		want    []string
	}{
		"it is flat":                                 {length, flat, nil},
		"the garbage collector draws a saw":          {length, series("manager-1", length, func(i int) float64 { return 100 + float64(i%20) }), nil},
		"it grows by less than a tenth":              {length, series("manager-1", length, line(100, 0.02)), nil},
		"it grows by more":                           {length, series("manager-1", length, line(100, 0.06)), []string{"live heap of the leader"}},
		"it is small, and grows by next to nothing":  {length, series("manager-1", length, line(1, 0.01)), nil},
		"it grows in the first half only":            {length, series("manager-1", length, func(i int) float64 { return 100 + float64(min(i, length/2)) }), nil},
		"its process was killed, and the heir leaks": {length, append(series("manager-1", 100, line(100, 1)), shifted(100, series("manager-2", length-100, line(20, 1)))...), []string{"live heap of the leader"}},
		"it was too short to tell":                   {30, series("manager-1", 30, line(100, 5)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Unix(0, 0)
			s := &soak{begin: begin, quantities: quantities(2)}
			for _, q := range s.quantities {
				q.points = series("manager-1", tc.seconds, line(50, 0))
				if q.of == leaderRole && q.name == "live heap" {
					q.points = tc.heap
				}
			}
			report := s.report(begin.Add(time.Duration(tc.seconds)*time.Second), Outcome{Ats: 7})
			assert.Equal(t, tc.want, report.Grown())
			if tc.want == nil {
				require.NoError(t, report.err())
			} else {
				require.EqualError(t, report.err(), "what grows: "+tc.want[0])
			}
		})
	}
}

func TestASoakFailsForAnAt(t *testing.T) {
	for name, outcome := range map[string]Outcome{
		"missed":  {Ats: 7, Missed: 1},
		"double":  {Ats: 7, Double: 1},
		"refused": {Ats: 7, Refused: 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, (&Report{Outcome: outcome}).err())
		})
	}
	require.NoError(t, (&Report{Outcome: Outcome{Ats: 7}}).err())
}

func TestTheTableOfASoak(t *testing.T) {
	var table bytes.Buffer
	(&Report{Length: time.Minute, Kills: 1, Cuts: 2, rows: []row{
		{&quantity{of: "leader", name: "goroutines"}, 90, 30, 20, true},
		{&quantity{of: "leader", name: "descriptors"}, 9, 0, 5, true},
		{&quantity{of: "API server", name: "file of etcd", unit: "MiB"}, 20, 0, 8, false},
	}}).Print(&table)
	assert.Contains(t, table.String(), "1m0s; the leader was killed 1 times, all watches were cut 2 times")
	assert.Regexp(t, `leader +goroutines +90.0 +\+30.0 +20.0 +GROWS`, table.String())
	assert.Regexp(t, `leader +descriptors +9.0 +\+0.0 +5.0 +flat`, table.String())
	assert.Regexp(t, `file of etcd +20.0 MiB +- +8.0 +too short to tell`, table.String())
}
