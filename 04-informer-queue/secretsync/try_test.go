//go:build try

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What the lesson asks the reader to write. Until then, these tests fail.

func TestTryASourceWithoutDataIsNotCopied(t *testing.T) {
	empty := aSource(func(s *corev1.Secret) { s.Data = nil })
	require.Equal(t, leave, testRules.decide(observed{empty, aTarget(), nil}).action, "there is nothing to copy yet")
	assert.Equal(t, remove, testRules.decide(observed{empty, aTarget(), aCopy()}).action, "the copy has what the source had")
	assert.Equal(t, leave, testRules.decide(observed{empty, aTarget(), aCopy(unmarked)}).action, "a secret of somebody else is kept")
	assert.Equal(t, create, testRules.decide(observed{aSource(), aTarget(), nil}).action, "a source with data is copied")
}

func TestTryTheCachesDoNotHoldWhatKubectlApplied(t *testing.T) {
	applied := func(s *corev1.Secret) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, corev1.LastAppliedConfigAnnotation, "the data, again")
	}
	source := trimmed(aSource(applied))
	require.NotContains(t, source.Annotations, corev1.LastAppliedConfigAnnotation, "the cache has the data once more")
	assert.True(t, testRules.isSource(source), "it's still a source")
	assert.NotContains(t, trimmed(aSource(unmarked, applied)).Annotations, corev1.LastAppliedConfigAnnotation, "nor of what isn't a source")
	assert.Contains(t, aCopy(applied).Annotations, corev1.LastAppliedConfigAnnotation, "an update would take it off the copy")
}

func TestTryAPausedTargetIsLeftAsItIs(t *testing.T) {
	paused := aTarget(func(n *corev1.Namespace) { n.Annotations[testRules.annotation] = "paused" })
	require.Equal(t, leave, testRules.decide(observed{aSource(), paused, nil}).action, "nothing is created in a paused target")
	assert.Equal(t, leave, testRules.decide(observed{aSource(otherData), paused, aCopy()}).action, "nothing is updated there")
	assert.Equal(t, leave, testRules.decide(observed{nil, paused, aCopy()}).action, "nothing is deleted there")
	assert.Equal(t, update, testRules.decide(observed{aSource(otherData), aTarget(), aCopy()}).action, "another target goes on")
}

func TestTryACopyHasTheTeamOfItsSource(t *testing.T) {
	team := func(s *corev1.Secret) { s.Labels = map[string]string{"team": "coast"} }
	have := aCopy(func(s *corev1.Secret) { s.Labels["team"] = "divers" })
	require.Equal(t, "coast", testRules.copyOf(aSource(team), "harbour", nil).Labels["team"], "the copy has the team of its source")
	assert.Equal(t, "coast", testRules.copyOf(aSource(team), "harbour", have).Labels["team"], "an update sets it, too")
	assert.Equal(t, "divers", testRules.copyOf(aSource(), "harbour", have).Labels["team"], "a source without a team takes none away")
	assert.NotContains(t, testRules.copyOf(aSource(), "harbour", nil).Labels, "team", "and gives none")
	assert.Equal(t, "divers", have.Labels["team"], "the object in the cache isn't changed")
}
