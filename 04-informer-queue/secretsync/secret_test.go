package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSumsOfDifferentDataDiffer(t *testing.T) {
	data := map[string]map[string][]byte{
		"nothing":             nil,
		"a key without value": {"a": nil},
		"one":                 {"a": []byte("bc")},
		"the same letters":    {"ab": []byte("c")},
		"two":                 {"a": []byte("b"), "c": []byte("d")},
		"two, crossed":        {"a": []byte("d"), "c": []byte("b")},
		"bytes":               {"a": {0xff, 0xfe}},
		"other bytes":         {"a": {0xfe, 0xff}},
	}
	for one, a := range data {
		for other, b := range data {
			assert.Equal(t, one == other, bytes.Equal(sum(a), sum(b)), "%s, %s", one, other)
		}
	}
	assert.Equal(t, sum(nil), sum(map[string][]byte{}))
}

// While a list is streamed, an object is trimmed twice.
func TestTheCachesHoldNoDataButThatOfSources(t *testing.T) {
	for name, tc := range map[string]struct {
		secret *corev1.Secret
		whole  bool
	}{
		"a source":               {aSource(), true},
		"a secret without mark":  {aSource(unmarked), false},
		"a token":                {aSource(token), false},
		"a copy":                 {testRules.copyOf(aSource(), "harbour", nil), false},
		"a copy that is trimmed": {aCopy(), false},
	} {
		t.Run(name, func(t *testing.T) {
			tc.secret.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
			once := trimmed(tc.secret)
			assert.Equal(t, tc.whole, string(once.Data["password"]) == "tide")
			assert.True(t, sameData(aSource(), once))
			assert.Nil(t, once.ManagedFields)
			assert.Equal(t, once, trimmed(once))
		})
	}
}

func TestCopyOf(t *testing.T) {
	source := aSource(frozen, otherType, func(s *corev1.Secret) {
		s.Labels = map[string]string{managedBy: "Helm"}
		s.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "the data, again"
		s.Finalizers = []string{"example.com/source"}
		s.OwnerReferences = []metav1.OwnerReference{{Name: "release"}}
	})
	assert.Equal(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "harbour", Name: "db",
			Labels:      map[string]string{managedBy: "secretsync"},
			Annotations: map[string]string{"example.com/secretsync": "secretsync/db/secretsync-db/harbour"},
		},
		Type:      "example.com/other",
		Data:      map[string][]byte{"password": []byte("tide")},
		Immutable: new(true),
	}, testRules.copyOf(source, "harbour", nil))
}

func TestACopyKeepsWhatOthersAdded(t *testing.T) {
	have := aCopy(otherData, func(s *corev1.Secret) {
		s.Labels["team"] = "coast"
		s.Annotations["note"] = "ask first"
		s.Finalizers = []string{"example.com/wait"}
	})
	updated := testRules.copyOf(aSource(), "harbour", have)
	assert.Equal(t, map[string]string{managedBy: "secretsync", "team": "coast"}, updated.Labels)
	assert.Equal(t, "ask first", updated.Annotations["note"])
	assert.Equal(t, []string{"example.com/wait"}, updated.Finalizers)
	assert.Equal(t, "7", updated.ResourceVersion, "the server refuses the update when the copy has changed since")
	assert.Equal(t, "tide", string(updated.Data["password"]))

	testRules.copyOf(aSource(otherUID), "harbour", have)
	assert.Equal(t, "secretsync/db/secretsync-db/harbour", have.Annotations[testRules.annotation], "the cache is not written to")
}

func TestMade(t *testing.T) {
	tests := map[string]struct {
		copy *corev1.Secret
		want bool
	}{
		"a copy":                                {aCopy(), true},
		"a copy of a source that was made anew": {aCopy(mark("secretsync/db/old-uid/harbour")), true},
		"a copy that was edited":                {aCopy(otherData, otherType, frozen), true},
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
