package lines

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLinesOfTwoAreToldApart(t *testing.T) {
	var out bytes.Buffer
	both := NewLocked(&out)
	one, two := New(both, "one| "), New(both, "two| ")
	fmt.Fprint(one, "step 1 ... ")
	fmt.Fprint(two, "a\nb")
	fmt.Fprint(one, "done\n\n")
	assert.Empty(t, one.Last())
	fmt.Fprint(one, "more\nand")
	assert.Equal(t, "more", one.Last())
	two.Flush()
	one.Flush()
	one.Flush()
	assert.Equal(t, "two| a\none| step 1 ... done\none| \none| more\ntwo| b\none| and\n", out.String())
}
