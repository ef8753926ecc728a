//go:build try

package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// What the lesson of part 3 asks the reader to write: other values for installations.

func TestTryFourAtATime(t *testing.T) {
	for _, folder := range installations {
		o, err := options(t, build(t, folder))
		require.NoError(t, err)
		assert.Equal(t, 4, o.Concurrency, "%s works on another number of objects at a time", folder)
	}
}

func TestTryTwoNodesAreAMust(t *testing.T) {
	got := map[string]corev1.UnsatisfiableConstraintAction{}
	for _, c := range deploymentOf(t, build(t, "overlays/ha")).Spec.Template.Spec.TopologySpreadConstraints {
		got[c.TopologyKey] = c.WhenUnsatisfiable
	}
	assert.Equal(t, corev1.DoNotSchedule, got[corev1.LabelHostname], "both replicas may be on one node")
	assert.Equal(t, corev1.ScheduleAnyway, got[corev1.LabelTopologyZone], "a cluster with one zone has no place for the second")
}
