package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// managedBy is the label on each copy. The server can select by label, but not by
// annotation: so the informer of the copies gets them, and no other secret.
const (
	managedBy = "app.kubernetes.io/managed-by"
	program   = "secretsync"
	selector  = managedBy + "=" + program
)

// rules say which objects are meant. One annotation has three meanings: on a
// secret of the source namespace "copy me", on a namespace "copy to here", and
// on a copy "this is what I was made from".
type rules struct {
	annotation      string
	sourceNamespace string
}

// isSource reports whether the secret is to be copied. The token of a service account
// isn't: it would give anyone who can read the copy the rights of that account.
func (r rules) isSource(s *corev1.Secret) bool {
	return s != nil && metav1.HasAnnotation(s.ObjectMeta, r.annotation) && s.Namespace == r.sourceNamespace &&
		s.DeletionTimestamp == nil && s.Type != corev1.SecretTypeServiceAccountToken
}

// isTarget reports whether sources are to be copied to the namespace. The source
// namespace never is one: its secrets are there already.
func (r rules) isTarget(n *corev1.Namespace) bool {
	return n != nil && metav1.HasAnnotation(n.ObjectMeta, r.annotation) && n.Name != r.sourceNamespace
}

// mark is what the annotation of a copy says: source namespace, name and UID of
// the source, and the namespace that the copy is for.
func (r rules) mark(source *corev1.Secret, namespace string) string {
	return strings.Join([]string{source.Namespace, source.Name, string(source.UID), namespace}, "/")
}

// made reports whether the secret proves that these rules made it. The label alone
// would not do: anybody may use it, and so does a secretsync with other rules. The UID
// tells two sources of one name apart; the source may be gone. Because the mark names
// the copy and its namespace, a copy of a copy proves nothing.
//
// An owner reference would be the usual proof. But an owner must be in the same
// namespace: the garbage collector would not find this one, and would delete the copy.
func (r rules) made(s *corev1.Secret) bool {
	parts := strings.Split(s.Annotations[r.annotation], "/")
	return s.Labels[managedBy] == program && len(parts) == 4 &&
		parts[0] == r.sourceNamespace && parts[1] == s.Name && parts[2] != "" && parts[3] == s.Namespace
}

// trim is what a cache keeps of a secret: its metadata, its type, and a checksum in
// place of the data, which only a source needs. The informer calls it before it stores a
// secret, and during a streamed list twice.
func (r rules) trim(obj any) (any, error) {
	s, ok := obj.(*corev1.Secret)
	if !ok {
		return obj, nil // the last state of a deleted one, which was trimmed before
	}
	s.ManagedFields = nil
	if !r.isSource(s) {
		s.Data = map[string][]byte{sumKey: sum(s.Data)}
	}
	return s, nil
}

// sumKey has a slash, so no secret on the server has such a key.
const sumKey = "sha256/sum"

// sum is a checksum of the data. JSON has the keys of a map in order, and cannot
// take {"a": "bc"} for {"ab": "c"}.
func sum(data map[string][]byte) []byte {
	if trimmed, ok := data[sumKey]; ok || len(data) == 0 {
		return trimmed
	}
	content, _ := json.Marshal(data) // a map of bytes can always be written
	sum := sha256.Sum256(content)
	return sum[:]
}

func sameData(a, b *corev1.Secret) bool { return bytes.Equal(sum(a.Data), sum(b.Data)) }

func immutable(s *corev1.Secret) bool { return s.Immutable != nil && *s.Immutable }

// copyOf is the source as it should be in the namespace: type, data and
// immutability. The labels and annotations of the source are not copied. They are
// about the source, such as "managed by Helm", and kubectl keeps the whole data in one.
//
// What others have added to the copy that there is, such as labels, remains.
func (r rules) copyOf(source *corev1.Secret, namespace string, have *corev1.Secret) *corev1.Secret {
	wanted := &corev1.Secret{Type: source.Type, Data: source.Data, Immutable: source.Immutable}
	if have != nil {
		have.ObjectMeta.DeepCopyInto(&wanted.ObjectMeta) // the resourceVersion, too
	}
	wanted.Namespace, wanted.Name = namespace, source.Name
	metav1.SetMetaDataLabel(&wanted.ObjectMeta, managedBy, program)
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, r.annotation, r.mark(source, namespace))
	return wanted
}
