package observe

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetricsHaveTheNamesOfTheOriginal(t *testing.T) {
	m := newMetrics()
	m.count(syncEvent)
	m.count(syncEvent)
	m.count(deletedEvent)
	m.ran(updatedEvent, 3, 1500*time.Microsecond)
	m.ranNames(0, 2*time.Second)
	var out bytes.Buffer
	require.NoError(t, m.print(&out))
	for _, line := range []string{
		`observe_counts{type="Sync"} 2`,
		`observe_counts{type="Deleted"} 1`,
		`observe_exec_durations_milliseconds_sum{exit_code="3",type="Updated"} 1.5`,
		`observe_exec_durations_milliseconds_count{exit_code="3",type="Updated"} 1`,
		`observe_name_exec_durations_milliseconds_sum{exit_code="0"} 2000`,
		`observe_name_exec_durations_milliseconds_count{exit_code="0"} 1`,
	} {
		assert.Contains(t, out.String(), "\n"+line+"\n")
	}
}
