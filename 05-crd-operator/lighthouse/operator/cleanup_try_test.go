//go:build try

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

// What the lesson "clean up" asks the reader to write. Until then, these tests fail.

// stuck is a Lighthouse that is being deleted, while the office is down.
func stuck(t *testing.T) *shore {
	t.Helper()
	s := leaving(t)
	s.list.Set(func(o *lightlist.Settings) { o.Down = true })
	_ = s.reconcile() // it's an error
	return s
}

func (s *shore) message() string { return s.light().Status.Conditions[0].Message }

func TestTryTheMessageHasTheTimeOfTheDeletion(t *testing.T) {
	s := stuck(t)
	since := s.light().DeletionTimestamp.UTC().Format(time.RFC3339)
	require.Contains(t, s.message(), "deleted at "+since+": the Light List office doesn't", "the message doesn't say when it was deleted")
	version := s.light().ResourceVersion
	s.clock.Step(time.Hour)
	_ = s.reconcile()
	assert.Equal(t, version, s.light().ResourceVersion, "it writes although nothing has changed")
	assert.NotContains(t, explainedAlive(t), "deleted at", "it isn't deleted")
}

// explainedAlive is the message of a Lighthouse that stays.
func explainedAlive(t *testing.T) string {
	t.Helper()
	s := newShore(t)
	s.list.Set(func(o *lightlist.Settings) { o.Down = true })
	_, _, message := summary(s.light(), nil, s.register())
	return message
}

func TestTryTheAnnotationNamesTheRegistration(t *testing.T) {
	s := stuck(t)
	s.change(func(light *v1alpha1.Lighthouse) { light.Annotations = map[string]string{abandon: "another"} })
	_ = s.reconcile()
	require.NotNil(t, s.light(), "it goes by an annotation that was copied from another Lighthouse")
	assert.Contains(t, s.message(), "annotate it with "+abandon+"="+token(s.light()), "the message doesn't say which value")
	s.change(func(light *v1alpha1.Lighthouse) { light.Annotations = map[string]string{abandon: token(light)} })
	require.NoError(t, s.reconcile())
	assert.Nil(t, s.light(), "it stays, although the annotation has its token")
}

func TestTryWhatWasAbandonedIsLogged(t *testing.T) {
	s := stuck(t)
	light := s.light()
	light.Status.Number = "A0001"
	require.NoError(t, s.Status().Update(t.Context(), light))
	s.change(func(light *v1alpha1.Lighthouse) { light.Annotations = map[string]string{abandon: token(light)} })
	require.NoError(t, s.reconcile())
	require.Nil(t, s.light())
	require.Contains(t, s.logged.String(), `"msg"="abandoned the registration" "token"="1" "number"="A0001"`, "nobody knows which registration is still billed")

	s = leaving(t)
	require.NoError(t, s.reconcile())
	require.Nil(t, s.light())
	assert.NotContains(t, s.logged.String(), "abandoned", "it was withdrawn")
}
