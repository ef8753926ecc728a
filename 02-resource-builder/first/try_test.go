//go:build try

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/02-resource-builder/lesson/fakeserver"
)

// What the lesson asks the reader to write. Until then, these tests fail.

var gull = with("harbour.example.com/v1", "Boat", "gull", map[string]any{"phase": "Moored"})

func TestTryANodeHasACase(t *testing.T) {
	stdout, err := first(t, []map[string]any{fakeserver.Object("v1", "Node", "ship")}, "nodes")
	require.NoError(t, err)
	assert.Contains(t, stdout, "ship")
}

func TestTryACustomResourceArrives(t *testing.T) {
	stdout, err := first(t, []map[string]any{gull}, "boats")
	require.NoError(t, err)
	assert.Contains(t, stdout, "Boat gull")
}

func TestTryThePhaseIsPrinted(t *testing.T) {
	stdout, err := first(t, []map[string]any{gull}, "boats")
	require.NoError(t, err)
	assert.Contains(t, stdout, "is currently Moored")
}

func TestTryAnErrorDoesNotEndTheVisit(t *testing.T) {
	stdout, err := first(t, []map[string]any{active("a"), active("b")}, "namespaces", "a", "moon", "b")
	require.ErrorContains(t, err, "no moon")
	assert.Regexp(t, `(?s)\ba\b.*\bb\b`, stdout)
}
