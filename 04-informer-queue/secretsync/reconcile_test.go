package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var testRules = rules{annotation: "example.com/secretsync", sourceNamespace: "secretsync"}

var deleting = &metav1.Time{Time: time.Unix(0, 0)}

// aSource is secretsync/db, changed by the functions.
func aSource(change ...func(*corev1.Secret)) *corev1.Secret {
	annotated := func(s *corev1.Secret) { s.Annotations = map[string]string{testRules.annotation: ""} }
	return whole("secretsync", "db", slices.Insert(change, 0, annotated)...)
}

// aCopy is the copy of aSource in the namespace harbour as a cache has it, changed by the functions.
func aCopy(change ...func(*corev1.Secret)) *corev1.Secret {
	made := testRules.copyOf(aSource(), "harbour", nil)
	made.ResourceVersion = "7"
	for _, f := range change {
		f(made)
	}
	return trimmed(made)
}

func trimmed(s *corev1.Secret) *corev1.Secret {
	small, _ := testRules.trim(s.DeepCopy())
	return small.(*corev1.Secret)
}

// aTarget returns the namespace harbour, changed by the functions.
func aTarget(change ...func(*corev1.Namespace)) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour", Annotations: map[string]string{testRules.annotation: "yes"}}}
	for _, f := range change {
		f(n)
	}
	return n
}

func whole(namespace, name string, change ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "-" + name), ResourceVersion: "1"},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{"password": []byte("tide")},
	}
	for _, f := range change {
		f(s)
	}
	return s
}

func frozen(s *corev1.Secret)         { s.Immutable = new(true) }
func otherType(s *corev1.Secret)      { s.Type = "example.com/other" }
func otherData(s *corev1.Secret)      { s.Data = map[string][]byte{"password": []byte("ebb")} }
func otherUID(s *corev1.Secret)       { s.UID = "another-uid" }
func unmarked(s *corev1.Secret)       { s.Annotations = nil }
func unlabelled(s *corev1.Secret)     { s.Labels = nil }
func deletingSecret(s *corev1.Secret) { s.DeletionTimestamp = deleting }
func token(s *corev1.Secret)          { s.Type = corev1.SecretTypeServiceAccountToken }
func plain(n *corev1.Namespace)       { n.Annotations = nil }
func terminated(n *corev1.Namespace)  { n.DeletionTimestamp = deleting }

func TestDecide(t *testing.T) {
	type table map[string]struct {
		source    *corev1.Secret
		namespace *corev1.Namespace
		have      *corev1.Secret
		want      decision
	}
	for about, tests := range map[string]table{
		"no copy belongs there": {
			"the namespace is gone":              {aSource(), nil, aCopy(), decision{leave, "the namespace is being deleted"}},
			"the target is terminating":          {aSource(), aTarget(terminated), nil, decision{leave, "the namespace is being deleted"}},
			"an old copy in it":                  {aSource(otherData), aTarget(terminated), aCopy(), decision{leave, "the namespace is being deleted"}},
			"a copy without a source in it":      {nil, aTarget(terminated), aCopy(), decision{leave, "the namespace is being deleted"}},
			"the target is no longer annotated":  {aSource(), aTarget(plain), aCopy(), decision{remove, "the namespace is not a target"}},
			"a copy there that is being deleted": {aSource(), aTarget(plain), aCopy(deletingSecret), decision{leave, "the namespace is not a target"}},
			"the source namespace as a target": {aSource(), aTarget(func(n *corev1.Namespace) { n.Name = "secretsync" }), aSource(),
				decision{leave, "the namespace is not a target"}},
			"the token of a service account":    {aSource(token), aTarget(), nil, decision{leave, "it has no source"}},
			"a source that became a token":      {aSource(token), aTarget(), aCopy(), decision{remove, "it has no source"}},
			"the source is gone":                {nil, aTarget(), aCopy(), decision{remove, "it has no source"}},
			"the source is no longer annotated": {aSource(unmarked), aTarget(), aCopy(), decision{remove, "it has no source"}},
			"the source is being deleted":       {aSource(deletingSecret), aTarget(), aCopy(), decision{remove, "it has no source"}},
			"neither source nor copy":           {nil, aTarget(), nil, decision{leave, "it has no source"}},
			"only our label, and no source":     {nil, aTarget(), aCopy(unmarked), decision{leave, "it has no source"}},
			"only our label, and no target":     {aSource(), aTarget(plain), aCopy(unmarked), decision{leave, "the namespace is not a target"}},
		},
		"a copy is missing or another secret in its place": {
			"a source without a copy":          {aSource(), aTarget(), nil, decision{create, "it is missing"}},
			"a foreign secret of that name":    {aSource(), aTarget(), trimmed(whole("harbour", "db")), decision{collide, "it was not made by secretsync"}},
			"a copy whose label was taken off": {aSource(), aTarget(), aCopy(unlabelled), decision{collide, "it was not made by secretsync"}},
			"a secret with only our label":     {aSource(), aTarget(), aCopy(unmarked), decision{collide, "it was not made by secretsync"}},
			"a copy that is being deleted":     {aSource(otherData), aTarget(), aCopy(deletingSecret), decision{leave, "it is being deleted"}},
		},
		"the copy is ours": {
			"a copy as it should be":           {aSource(), aTarget(), aCopy(), decision{leave, "it is as it should be"}},
			"the source changed":               {aSource(otherData), aTarget(), aCopy(), decision{update, "its data differs"}},
			"the copy was edited":              {aSource(), aTarget(), aCopy(otherData), decision{update, "its data differs"}},
			"the source was created again":     {aSource(otherUID), aTarget(), aCopy(), decision{update, "its source was created again"}},
			"the copy has labels of others":    {aSource(), aTarget(), aCopy(func(s *corev1.Secret) { s.Labels["team"] = "coast" }), decision{leave, "it is as it should be"}},
			"the source has become immutable":  {aSource(frozen), aTarget(), aCopy(), decision{update, "it should be immutable"}},
			"both are immutable":               {aSource(frozen), aTarget(), aCopy(frozen), decision{leave, "it is as it should be"}},
			"both, and the source is new":      {aSource(frozen, otherUID), aTarget(), aCopy(frozen), decision{update, "its source was created again"}},
			"the copy was made immutable":      {aSource(), aTarget(), aCopy(frozen), decision{remove, "it differs and is immutable"}},
			"an immutable copy is out of date": {aSource(frozen, otherData), aTarget(), aCopy(frozen), decision{remove, "it differs and is immutable"}},
			"the source has another type":      {aSource(otherType), aTarget(), aCopy(), decision{remove, "its type differs"}},
		},
	} {
		t.Run(about, func(t *testing.T) {
			for name, tc := range tests {
				t.Run(name, func(t *testing.T) {
					assert.Equal(t, tc.want, testRules.decide(observed{tc.source, tc.namespace, tc.have}))
				})
			}
		})
	}
}
