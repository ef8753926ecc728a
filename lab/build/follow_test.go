package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFollowReadsEveryLine(t *testing.T) {
	var lines []string
	shown := 0

	err := follow(exec.CommandContext(t.Context(), "sh", "-c", "echo one >&2; echo two >&2; printf three >&2"),
		func(line string) { lines = append(lines, line) },
		func() { shown++ })

	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two", "three"}, lines)
	assert.GreaterOrEqual(t, shown, len(lines))
}

func TestFollowReportsAFailedCommand(t *testing.T) {
	err := follow(exec.CommandContext(t.Context(), "sh", "-c", "exit 1"), func(string) {}, func() {})

	assert.ErrorContains(t, err, "failed, see above")
}

func TestFollowInterruptsTheCommandWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var lines []string

	err := follow(exec.CommandContext(ctx, "sh", "-c", `trap 'echo tidied >&2; exit 1' INT; echo ready >&2; while :; do sleep 0.01; done`),
		func(line string) {
			lines = append(lines, line)
			cancel()
		}, func() {})

	require.Error(t, err)
	assert.Equal(t, []string{"ready", "tidied"}, lines)
}
