package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// recorder is a display that writes into a string, on a clock that the test moves.
func recorder(terminal bool) (*display, *strings.Builder, *time.Time) {
	var out strings.Builder
	now := time.Unix(0, 0)
	d := newDisplay(&out, terminal)
	d.now = func() time.Time { return now }
	d.last = now
	return d, &out, &now
}

func TestTerminalRewritesOneLine(t *testing.T) {
	d, out, _ := recorder(true)

	d.Show("compiling 1")
	d.Show("compiling 2")
	d.Show("compiling 2")
	d.Clear()

	assert.Equal(t, clearLine+"compiling 1"+clearLine+"compiling 2"+clearLine, out.String())
}

func TestTerminalKeepsTheStatusBelowWhatStays(t *testing.T) {
	d, out, _ := recorder(true)

	d.Show("compiling 1")
	d.Print("a.go:1: syntax error")

	assert.Equal(t, clearLine+"compiling 1"+clearLine+"a.go:1: syntax error\n"+clearLine+"compiling 1", out.String())
}

func TestLogGetsALineEveryTenSeconds(t *testing.T) {
	d, out, now := recorder(false)

	*now = now.Add(9 * time.Second)
	d.Show("compiling 1")
	*now = now.Add(time.Second)
	d.Show("compiling 2")
	*now = now.Add(time.Second)
	d.Show("compiling 3")
	d.Print("done")

	assert.Equal(t, "compiling 2\ndone\n", out.String())
}
