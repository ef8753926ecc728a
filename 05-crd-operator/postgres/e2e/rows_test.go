package e2e

import (
	"fmt"
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loses stops the writer of a cluster that is as it should be, and returns the acknowledged rows that
// are not there. All members have the same rows, and no two servers have written to one timeline.
func (w *writer) loses() (lost []row) {
	w.Helper()
	w.stop()
	there := w.read()
	for _, row := range w.rows() {
		found, ok := there[row.n]
		if !ok {
			lost = append(lost, row)
			continue
		}
		row.at = found.at // which the table has not
		assert.Equal(w, row, found)
	}
	servers := map[string]string{} // by their timelines
	for _, row := range there {
		if other, ok := servers[row.timeline]; ok {
			assert.Equal(w, other, row.server, "two servers have written to timeline %s", row.timeline)
		}
		servers[row.timeline] = row.server
	}
	w.membersAgree()
	return lost
}

// read returns all rows that the primary has.
func (w *writer) read() map[int]row {
	w.Helper()
	rows, err := w.ask(w.Context(), "SELECT n, server, timeline FROM rows")
	require.NoError(w, err)
	there := map[int]row{}
	for _, values := range rows {
		n, err := strconv.Atoi(values[0])
		require.NoError(w, err)
		there[n] = row{n: n, server: values[1], timeline: values[2]}
	}
	return there
}

// membersAgree waits until each standby has what the primary has.
func (w *writer) membersAgree() {
	w.Helper()
	const digest = `SELECT count(*) || ' ' || coalesce(md5(string_agg(n || server || timeline, ',' ORDER BY n)), '') FROM rows`
	want, err := w.ask(w.Context(), digest)
	require.NoError(w, err)
	for _, m := range w.status().Members {
		eventually(w, m.Name+" has all rows", func() error {
			s, err := w.dialer.dial(w.Context(), m.Address)
			if err != nil {
				return err
			}
			defer s.close()
			got, err := s.query(w.Context(), digest)
			if err == nil && got[0][0] != want[0][0] {
				err = fmt.Errorf("it has %s, and the primary %s", got[0][0], want[0][0])
			}
			return err
		})
	}
}
