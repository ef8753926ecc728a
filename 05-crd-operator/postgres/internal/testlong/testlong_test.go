package testlong

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOnlyAShortRunLeavesATestOut(t *testing.T) {
	before := flag.Lookup("test.short").Value.String()
	t.Cleanup(func() { require.NoError(t, flag.Set("test.short", before)) })
	for short, want := range map[string]bool{"true": true, "false": false} {
		require.NoError(t, flag.Set("test.short", short))
		var left bool
		t.Run(short, func(t *testing.T) {
			defer func() { left = t.Skipped() }()
			LeftToWorkflows(t)
		})
		assert.Equal(t, want, left, "-short=%s", short)
	}
}
