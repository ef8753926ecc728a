//go:build try

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What the lesson "references" asks the reader to write. Until then, these tests fail.

const consent = "coast.example.com/light-list"

// label gives the Secret the label of that name, and what the next try needs.
func (s *shore) label(value string) {
	s.Helper()
	secret := &corev1.Secret{}
	require.NoError(s, s.Get(s.Context(), client.ObjectKey{Namespace: "coast", Name: "light-list"}, secret))
	secret.Labels = map[string]string{consent: value}
	require.NoError(s, s.Update(s.Context(), secret))
}

// bearerOf is the token of the Lighthouse, or the message about it.
func (s *shore) bearerOf() (bearer, reason, message string) {
	s.Helper()
	bearer, err := s.bearer(s.Context(), s.light())
	if err == nil {
		return bearer, "", ""
	}
	var trouble *problem
	require.ErrorAs(s, err, &trouble)
	assert.True(s, trouble.stalled, "only a person can go on")
	assert.Zero(s, trouble.again, "it polls: the watch will bring it back")
	return "", trouble.reason, trouble.message
}

func TestTryTheMessageNamesTheMissingKey(t *testing.T) {
	s := newShore(t)
	s.label("allowed")
	s.secret("")
	_, reason, message := s.bearerOf()
	assert.Equal(t, "NoToken", reason)
	require.Equal(t, "the Secret light-list has no key token", message, "it tells a user to create what is there")
	s.deleteSecret()
	_, reason, message = s.bearerOf()
	assert.Equal(t, "NoToken", reason)
	assert.Equal(t, "create the Secret light-list with the key token", message)
}

func TestTryASecretHasToBeAllowed(t *testing.T) {
	s := newShore(t)
	for _, value := range []string{"", "forbidden"} {
		s.label(value)
		bearer, reason, message := s.bearerOf()
		require.Empty(t, bearer, "it takes a token whose owner hasn't agreed")
		assert.Equal(t, "NotAllowed", reason)
		assert.Contains(t, message, consent+"=allowed", "the message says which label is missing")
	}
	s.label("allowed")
	bearer, _, _ := s.bearerOf()
	assert.Equal(t, "trinity", bearer)
}

func TestTryATokenThatIsNoneIsNotSent(t *testing.T) {
	s := newShore(t)
	s.label("allowed")
	for _, odd := range []string{"trin\nity", "trin ity\n", "trin\r\nity"} {
		s.secret(odd)
		bearer, reason, message := s.bearerOf()
		require.Empty(t, bearer, "it sends what can't be a token")
		assert.Equal(t, "BadToken", reason)
		assert.Contains(t, message, "light-list", "the message says which Secret it is")
		assert.NotContains(t, message, "trin", "it shows a part of the token")
	}
	s.secret("  trinity\n")
	bearer, _, _ := s.bearerOf()
	assert.Equal(t, "trinity", bearer, "what is around it is taken off")
}
