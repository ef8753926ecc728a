package load

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPicture(t *testing.T) {
	var b strings.Builder
	require.ErrorContains(t, Picture(&b, []Step{{Rate: 5}}), "needs two steps")
	require.NoError(t, Picture(&b, []Step{{Rate: 5, P50: 0.1, P99: 0.1}, {Rate: 10, P50: 0.1, P99: 10}}))
	var kinds []string
	decoder := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			kinds = append(kinds, start.Name.Local)
		}
	}
	assert.Equal(t, "svg", kinds[0])
	assert.Contains(t, b.String(), `y1="212.5" y2="212.5" stroke="#ddd"/><text x="52" y="216.5" text-anchor="end">0.1</text>`)
	assert.Contains(t, b.String(), `y1="97.5" y2="97.5" stroke="#ddd"/><text x="52" y="101.5" text-anchor="end">10</text>`)
	assert.Contains(t, b.String(), `<polyline points="60.0,212.5 620.0,212.5"`, "p50 is on the line of 0.1 s")
	assert.Contains(t, b.String(), `<polyline points="60.0,212.5 620.0,97.5"`, "p99 rises to that of 10 s")
}
