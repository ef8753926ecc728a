package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSumsOfDifferentDataDiffer(t *testing.T) {
	all := []map[string][]byte{
		nil,
		{"a": nil},
		{"a": []byte("bc")},
		{"ab": []byte("c")},
		{"a": []byte("b"), "c": []byte("d")},
		{"a": []byte("d"), "c": []byte("b")},
		{"a": {0xff, 0xfe}},
	}
	for i, a := range all {
		for j, b := range all {
			assert.Equal(t, i == j, bytes.Equal(sum(a), sum(b)), "%s, %s", a, b)
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
		"a source":              {aSource(), true},
		"a secret without mark": {aSource(unmarked), false},
		"a token":               {aSource(token), false},
		"a copy":                {testRules.copyOf(aSource(), "harbour", nil), false},
	} {
		tc.secret.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		once := trimmed(tc.secret)
		assert.Equal(t, tc.whole, string(once.Data["password"]) == "tide", name)
		assert.True(t, sameData(aSource(), once), name)
		assert.Nil(t, once.ManagedFields, name)
		assert.Equal(t, once, trimmed(once), name)
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
	source := aSource(frozen, otherUID)
	updated := testRules.copyOf(source, "harbour", have)
	assert.Equal(t, map[string]string{managedBy: "secretsync", "team": "coast"}, updated.Labels)
	assert.Equal(t, "ask first", updated.Annotations["note"])
	assert.Equal(t, []string{"example.com/wait"}, updated.Finalizers)
	assert.Equal(t, "7", updated.ResourceVersion, "the server refuses the update when the copy has changed since")
	assert.Equal(t, leave, testRules.decide(observed{source, aTarget(), trimmed(updated)}).action, "nothing is left to do")
	assert.Equal(t, "secretsync/db/secretsync-db/harbour", have.Annotations[testRules.annotation], "the cache is not written to")
}

func TestMade(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Secret)
		want   bool
	}{
		"a copy":                                   {otherData, true},
		"a copy of a source that was made again":   {mark("secretsync/db/old-uid/harbour"), true},
		"without the label":                        {unlabelled, false},
		"with another label":                       {func(s *corev1.Secret) { s.Labels[managedBy] = "Helm" }, false},
		"without the mark":                         {unmarked, false},
		"with the mark of another program":         {mark("yes"), false},
		"without the UID":                          {mark("secretsync/db//harbour"), false},
		"of another source namespace":              {mark("elsewhere/db/secretsync-db/harbour"), false},
		"a copy of the copy, under another name":   {func(s *corev1.Secret) { s.Name = "db-backup" }, false},
		"a copy of the copy, in another namespace": {func(s *corev1.Secret) { s.Namespace = "coast" }, false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, testRules.made(aCopy(tc.change))) })
	}
}

func mark(value string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.Annotations[testRules.annotation] = value }
}

func TestSettingsThatDoHarm(t *testing.T) {
	for args, want := range map[string]string{
		"--workers=0":         "--workers must be at least 1",
		"--source-namespace=": `--source-namespace "" is not the name of a namespace`,
		"x --workers=1":       `"x" isn't a flag, and all flags after it would be ignored`,
	} {
		program := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(args)...)
		program.Env = []string{"AS_PROGRAM=secretsync", "KUBECONFIG=/nowhere"}
		output, err := program.CombinedOutput()
		require.Error(t, err)
		assert.Equal(t, "error: "+want+"\n", string(output), "no cluster is looked for")
	}
}
