package practice

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLinesBreakBetweenWords(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a short line stays", "  a) one two\n", "  a) one two\n"},
		{"a line as wide as the terminal stays", "123456 890 2\n", "123456 890 2\n"},
		{"what goes on is indented as its line is", "  one two three four\n\nfive\n", "  one two\n  three four\n\nfive\n"},
		{"a word that is longer stays whole", "an\nunbreakable-word and more\n", "an\nunbreakable-word\nand more\n"},
		{"characters count, not bytes", "ääää öööö üü\n", "ääää öööö üü\n"},
		{"spaces at the end are no place to break", "123456789012   \n", "123456789012   \n"},
	} {
		assert.Equal(t, test.want, wrapped(test.text, 12), test.name)
	}
	assert.Equal(t, "one two three four five\n", wrapped("one two three four five\n", 0), "the width isn't known")
}

func TestOnlyForATerminalLinesBreak(t *testing.T) {
	var out bytes.Buffer
	assert.Nil(t, widthOf(&out))
	practice{out: &out}.printf("one two %s", "three")
	practice{out: &out, width: func() int { return 8 }}.printf("one two %s", "three")
	assert.Equal(t, "one two three\none two\nthree\n", out.String())
}
