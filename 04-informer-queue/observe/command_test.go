package observe

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuoteLine(t *testing.T) {
	tests := map[string]struct {
		words []string
		want  string
	}{
		"nothing":            {nil, ""},
		"words":              {[]string{"echo", "default", "web-1", "{.x}", "a=b"}, "echo default web-1 {.x} a=b"},
		"an empty word":      {[]string{"echo", "", "x"}, `echo "" x`},
		"a space":            {[]string{"a b"}, `"a b"`},
		"a quote":            {[]string{`a"b`}, `"a\"b"`},
		"a backslash":        {[]string{`a\b`}, `"a\\b"`},
		"one line, whatever": {[]string{"a\nb", "\x1b[31m"}, `"a\nb" "\x1b[31m"`},
		"other letters":      {[]string{"höhe"}, "höhe"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, quoteLine(tc.words)) })
	}
}

func TestFindProgram(t *testing.T) {
	p, err := findProgram(nil)
	require.NoError(t, err)
	assert.False(t, p.given())

	p, err = findProgram([]string{"sh", "-c"})
	require.NoError(t, err)
	assert.True(t, p.given())
	assert.Contains(t, p.path, "/sh")
	assert.Equal(t, []string{"sh", "-c"}, p.line, "the program sees itself under the name that the user wrote")
}
