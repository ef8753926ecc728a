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
	var none program
	require.NoError(t, none.find())
	assert.False(t, none.given())

	p := found(t, "sh", "-c")
	assert.True(t, p.given())
	assert.Contains(t, p.path, "/sh")
	assert.Equal(t, []string{"sh", "-c"}, p.line, "the program sees itself under the name that the user wrote")
}

// found is a program in $PATH.
func found(t testing.TB, line ...string) program {
	t.Helper()
	p := program{line: line}
	require.NoError(t, p.find())
	return p
}
