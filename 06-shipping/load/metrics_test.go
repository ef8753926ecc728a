package load

import (
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSumOfSamples(t *testing.T) {
	before, err := parse(strings.NewReader("# TYPE taken histogram\n" +
		`taken_bucket{verb="GET",le="+Inf"} 3` + "\n" + `taken_sum{verb="GET"} 6` + "\n" + `taken_count{verb="GET"} 3` + "\n"))
	require.NoError(t, err)
	after, err := parse(strings.NewReader("open{verb=\"GET\",of=\"a\"} 1\nopen{verb=\"GET\",of=\"b\"} 2\nopen{verb=\"POST\"} 4\ntaken_sum{verb=\"GET\"} 10\n"))
	require.NoError(t, err)
	get := model.LabelSet{"verb": "GET"}
	assert.Equal(t, []float64{7, 3, 2, 0}, []float64{after.sum("open", nil), after.sum("open", get), after.sum("open", model.LabelSet{"verb": "GET", "of": "b"}), after.sum("none", nil)})
	assert.Equal(t, []float64{3, 4}, []float64{before.sum("taken_count", get), after.since(before, "taken_sum", get)})
}
