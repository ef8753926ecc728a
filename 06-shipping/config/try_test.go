//go:build try

package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// What the lesson of part 3 asks the reader to write: other values for installations.

func TestTryFourAtATime(t *testing.T) {
	for _, folder := range installations {
		assert.Equal(t, 4, options(t, build(t, folder)).Concurrency, "%s works on another number of objects at a time", folder)
	}
}

func TestTryTwoNodesAreAMust(t *testing.T) {
	got := map[string]corev1.TopologySpreadConstraint{}
	for _, c := range deploymentOf(t, build(t, "overlays/ha")).Spec.Template.Spec.TopologySpreadConstraints {
		got[c.TopologyKey] = c
	}
	nodes, zones := got[corev1.LabelHostname], got[corev1.LabelTopologyZone]
	assert.Equal(t, corev1.DoNotSchedule, nodes.WhenUnsatisfiable, "both replicas may be on one node")
	assert.Equal(t, int32(2), ptr.Deref(nodes.MinDomains, 1), "both replicas may be on one node if there is no other")
	assert.Equal(t, corev1.ScheduleAnyway, zones.WhenUnsatisfiable, "a cluster with one zone has no place for the second")
	assert.Nil(t, zones.MinDomains, "a wish has no minimum: the API server refuses it")
}
