package gotest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnExcerptIsWhatTellsMost(t *testing.T) {
	for name, test := range map[string]struct {
		output string
		limit  int
		want   []string
	}{
		"testify without what is said twice": {
			"=== RUN   TestX\n" +
				"I1121 a line of a log\n" +
				"    x_test.go:25: \n" +
				"        \tError Trace:\t/copy/m/x_test.go:25\n" +
				"        \t            \t\t\t\t/copy/m/y_test.go:3\n" +
				"        \tError:      \tNot equal: \n" +
				"        \t            \texpected: 1\n" +
				"        \t            \tactual  : 2\n" +
				"        \t            \t\n" +
				"        \t            \tDiff:\n" +
				"        \t            \t--- Expected\n" +
				"        \t            \t-1\n" +
				"        \t            \t+2\n" +
				"        \tTest:       \tTestX\n" +
				"        \tMessages:   \ta deleted pod is gone\n" +
				"I1121 another line\n" +
				"    x_test.go:30: and then\n" +
				"--- FAIL: TestX (0.00s)\n",
			12,
			[]string{"x_test.go:25:", "  Not equal:", "  expected: 1", "  actual  : 2", "  a deleted pod is gone", "x_test.go:30: and then"},
		},
		"of long values the difference": {
			"    x_test.go:25: \n" +
				"        \tError:      \tNot equal: \n" +
				"        \t            \texpected: " + strings.Repeat("a", 400) + "\n" +
				"        \t            \tactual  : " + strings.Repeat("a", 400) + "b\n" +
				"        \t            \tDiff:\n" +
				"        \t            \t-a\n" +
				"        \t            \t+ab\n",
			12,
			[]string{"x_test.go:25:", "  Not equal:", "  -a", "  +ab"},
		},
		"a long line is cut": {"    x_test.go:1: " + strings.Repeat("é", 500) + "b\n", 2, []string{"x_test.go:1: " + strings.Repeat("é", 237) + " ... " + strings.Repeat("é", 149) + "b"}},
		"not too much": {
			"    x_test.go:1: one\n    x_test.go:2: two\n    x_test.go:3: three\n", 2,
			[]string{"x_test.go:1: one", "x_test.go:2: two", "..."},
		},
		"the last lines of a log": {"one\ntwo\nthree\n", 2, []string{"two", "three"}},
		"a panic and its way through the copy": {
			"log\npanic: nil map [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.f()\n\t/usr/go/testing.go:1 +0x1\nm.F(0x1)\n\t/copy/m/p/p.go:14 +0x1d\n", 5,
			[]string{"panic: nil map", "  at p/p.go:14"},
		},
		"nothing": {"", 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, Excerpt(test.output, "/copy/m", test.limit))
		})
	}
}
