package gotest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProblemsAreWhatDidNotPass(t *testing.T) {
	for name, c := range map[string]struct {
		events string
		want   []string
	}{
		"all passes":      {`{"Action":"run","Test":"TestX"}{"Action":"pass","Test":"TestX"}{"Action":"pass"}`, nil},
		"a test fails":    {`{"Action":"run","Test":"TestX"}{"Action":"output","Test":"TestX","Output":"boo\n"}{"Action":"fail","Test":"TestX"}{"Action":"fail"}`, []string{"TestX of ./p fails:\n    boo"}},
		"a test exits":    {`{"Action":"run","Test":"TestX"}{"Action":"fail"}`, []string{"TestX of ./p ends its process: (nothing)"}},
		"no test, though": {`{"Action":"output","Output":"leak\n"}{"Action":"fail"}`, []string{"./p fails, though no test of it does:\n    leak"}},
	} {
		t.Run(name, func(t *testing.T) {
			events := strings.ReplaceAll(strings.ReplaceAll(c.events, "}{", "}\n{"), `{"Action"`, `{"Package":"./p","Action"`)
			report, err := Read(strings.NewReader(events), nil)
			require.NoError(t, err)
			assert.Equal(t, c.want, report.Problems("/nowhere"))
		})
	}
}
