package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribeUnstructured(t *testing.T) {
	const boat = "apiVersion: harbour.example.com/v1\nkind: Boat\nmetadata: {name: gull, namespace: default}\n"
	tests := map[string]struct{ object, want string }{
		"neither phase nor conditions":  {boat, "Boat gull in namespace default has neither phase nor conditions"},
		"a phase":                       {boat + "status: {phase: Moored}", "Boat gull in namespace default is currently Moored"},
		"conditions":                    {boat + `status: {conditions: [{type: Painted, status: "True"}, {type: Afloat, status: Unknown}]}`, "Boat gull in namespace default: Painted=True, Afloat=Unknown"},
		"both":                          {boat + `status: {phase: Moored, conditions: [{type: Afloat, status: "True"}]}`, "Boat gull in namespace default is currently Moored: Afloat=True"},
		"one that is being deleted":     {"{apiVersion: v1, kind: Pod, metadata: {name: web, deletionTimestamp: 2026-01-01T00:00:00Z}, status: {phase: Running}}", "Pod web is currently Terminating"},
		"a phase that is no text":       {boat + "status: {phase: 3}", "Boat gull in namespace default has neither phase nor conditions"},
		"a status that is no object":    {boat + "status: fine", "Boat gull in namespace default has neither phase nor conditions"},
		"conditions that are no list":   {boat + "status: {conditions: fine}", "Boat gull in namespace default has neither phase nor conditions"},
		"a condition that is no object": {boat + "status: {conditions: [fine]}", "Boat gull in namespace default has neither phase nor conditions"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := describeUnstructured(parse(t, tc.object))
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}
