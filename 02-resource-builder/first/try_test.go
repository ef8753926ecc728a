//go:build try

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the lesson asks the reader to write. Until then, these tests fail.

var gull = with("harbour.example.com/v1", "Boat", "gull", map[string]any{"phase": "Moored"})

func TestTryANodeHasACase(t *testing.T) {
	node := with("v1", "Node", "ship", map[string]any{"nodeInfo": map[string]any{"kubeletVersion": "v1.36.1"}})
	stdout, err := first(t, []map[string]any{node}, "nodes")
	require.NoError(t, err)
	assert.Contains(t, stdout, "ship", "the name of the node")
	if _, err := first(t, []map[string]any{gull}, "boats"); err != nil { // later, a node is a map like any other
		assert.Contains(t, stdout, "v1.36.1", "the version of its kubelet")
	}
}

func TestTryACustomResourceArrives(t *testing.T) {
	stdout, err := first(t, []map[string]any{gull}, "boats")
	require.NoError(t, err)
	assert.Contains(t, stdout, "Boat gull", "the kind and the name")
}

func TestTryThePhaseOfAnyObjectIsPrinted(t *testing.T) {
	stdout, err := first(t, []map[string]any{gull}, "boats")
	require.NoError(t, err)
	assert.Contains(t, stdout, "is currently Moored", "the phase in the status of the object")
}

func TestTryAnErrorDoesNotEndTheVisit(t *testing.T) {
	stdout, err := first(t, []map[string]any{active("bow"), active("stern")}, "namespaces", "bow", "moon", "stern")
	require.ErrorContains(t, err, "no moon", "what doesn't exist is an error at the end")
	assert.Contains(t, stdout, "bow", "it exists")
	assert.Contains(t, stdout, "stern", "it exists, and comes after one that doesn't")
}
