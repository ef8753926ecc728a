//go:build try

package writer_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/05-crd-operator/postgres/writer"
)

// What the lesson of part 8.3 asks the reader to write. Until then, this test fails.
func TestTryUnknownRowsAreLookedUp(t *testing.T) {
	for name, tc := range map[string]struct {
		deeds []deed
		want  string
	}{
		"none is unknown":                {[]deed{keep, keep}, "0 of 0"},
		"no answer, and no row":          {[]deed{keep, cut, keep}, "0 of 1"},
		"a warning, and the row is kept": {[]deed{keep, warn, keep}, "1 of 1"},
		"one of each":                    {[]deed{warn, cut, keep}, "1 of 2"},
		"while another row is lost":      {[]deed{warn, forget, keep}, "1 of 1"},
		"the table is lost, too":         {[]deed{warn, drop}, "0 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := &server{t: t, deeds: tc.deeds, last: cancel, rows: map[string]bool{}}
			var out bytes.Buffer
			_ = writer.Run(ctx, writer.Options{Config: s.listen(), Out: &out}) // that it finds a lost row is not asked here
			assert.Contains(t, out.String(), "unknown rows that are there: "+tc.want+"\n", "the writer does not say how many unknown rows are there")
		})
	}
}
