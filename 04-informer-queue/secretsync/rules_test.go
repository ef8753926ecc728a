package secretsync

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestMade(t *testing.T) {
	tests := map[string]struct {
		copy *secret
		want bool
	}{
		"a copy":                                {aCopy(), true},
		"a copy of a source that was made anew": {aCopy(mark("secretsync/db/old-uid/harbour")), true},
		"a copy that was edited":                {aCopy(otherData, otherType, immutable), true},
		"without the label":                     {aCopy(unlabelled), false},
		"with another label":                    {aCopy(func(s *corev1.Secret) { s.Labels[managedBy] = "Helm" }), false},
		"without the mark":                      {aCopy(unmarked), false},
		"with an empty mark":                    {aCopy(mark("")), false},
		"with the mark of another program":      {aCopy(mark("yes")), false},
		"without the UID":                       {aCopy(mark("secretsync/db//harbour")), false},
		"of another source namespace":           {aCopy(mark("elsewhere/db/secretsync-db/harbour")), false},
		"of another annotation": {aCopy(func(s *corev1.Secret) {
			s.Annotations = map[string]string{"other.example.com/x": s.Annotations[testRules.annotation]}
		}), false},
		"a copy of the copy, under another name":   {aCopy(func(s *corev1.Secret) { s.Name = "db-backup" }), false},
		"a copy of the copy, in another namespace": {aCopy(func(s *corev1.Secret) { s.Namespace = "coast" }), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, testRules.made(tc.copy)) })
	}
}

func mark(value string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.Annotations[testRules.annotation] = value }
}

func TestOnlySecretsOfTheSourceNamespaceAreSources(t *testing.T) {
	assert.True(t, testRules.isSource(aSource()))
	assert.False(t, testRules.isSource(aSource(func(s *corev1.Secret) { s.Namespace = "harbour" })))
}
