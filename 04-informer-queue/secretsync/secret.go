package main

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// managedBy is the label on each copy. A label can be selected on the server,
// an annotation cannot: so the server sends the copies, and no other secret.
const (
	managedBy = "app.kubernetes.io/managed-by"
	program   = "secretsync"
	copies    = managedBy + "=" + program // the selector
)

// rules say which objects are meant. One annotation has three meanings: on a
// secret of the source namespace "copy me", on a namespace "copy to here", and
// on a copy "this is what I was made from".
type rules struct {
	annotation      string
	sourceNamespace string
}

func (r rules) annotated(object metav1.Object) bool {
	_, ok := object.GetAnnotations()[r.annotation]
	return ok
}

// isSource reports whether the secret is to be copied.
func (r rules) isSource(s *secret) bool {
	return s != nil && r.annotated(s) && s.Namespace == r.sourceNamespace &&
		s.DeletionTimestamp == nil && !isToken(s)
}

// isToken reports whether the secret is the token of a service account. It would
// give its holder, in whatever namespace, the rights of an account in this one.
// Nor would a copy last: Kubernetes deletes a token whose account it does not
// find beside it.
func isToken(s *secret) bool {
	return s != nil && s.kind == corev1.SecretTypeServiceAccountToken
}

// isTarget reports whether sources are to be copied to the namespace. The source
// namespace is none, whatever it bears: its secrets are there already.
func (r rules) isTarget(n *corev1.Namespace) bool {
	return n != nil && r.annotated(n) && n.Name != r.sourceNamespace
}

// mark is what the annotation of a copy says: source namespace, name and UID of
// the source, and the namespace that the copy is for.
func (r rules) mark(source *secret, namespace string) string {
	return strings.Join([]string{source.Namespace, source.Name, string(source.UID), namespace}, "/")
}

// made reports whether the secret proves that it is a copy made by these rules.
// The label alone would not do: anybody may use it, and so does a secretsync with
// another annotation or source namespace. The UID is that of a source which may
// be gone; it is there to tell two sources of one name apart. And because the
// mark names the copy and its namespace, a copy of a copy proves nothing.
//
// An owner reference would be the usual proof. But an owner must be in the
// same namespace: to the garbage collector this one would look deleted, and it
// would delete the copy.
func (r rules) made(s *secret) bool {
	parts := strings.Split(s.Annotations[r.annotation], "/")
	return s.Labels[managedBy] == program && len(parts) == 4 &&
		parts[0] == r.sourceNamespace && parts[1] == s.Name && parts[2] != "" && parts[3] == s.Namespace
}

// secret is what the caches keep of a corev1.Secret. Of the data of a copy only
// a checksum is needed, to see whether it differs from that of its source. So
// fifty thousand copies are small, and this program has no data in its memory but that of
// the sources. Only reconcile.go reads these caches: a typed lister would panic.
type secret struct {
	metav1.ObjectMeta
	kind      corev1.SecretType
	immutable bool
	sum       [sha256.Size]byte
	data      map[string][]byte // of sources only
}

// trim keeps what is needed of a copy.
func trim(s *corev1.Secret) *secret {
	if s == nil {
		return nil
	}
	trimmed := &secret{ObjectMeta: s.ObjectMeta, kind: s.Type, immutable: s.Immutable != nil && *s.Immutable, sum: sum(s.Data)}
	trimmed.ManagedFields = nil
	return trimmed
}

// trimSource keeps what is needed of a secret in the source namespace. Those
// that are not to be copied are no concern of this program.
func (r rules) trimSource(s *corev1.Secret) *secret {
	trimmed := trim(s)
	if r.isSource(trimmed) {
		trimmed.data = s.Data
	}
	return trimmed
}

// transform makes a cache keep what the function returns.
func transform(trim func(*corev1.Secret) *secret) cache.TransformFunc {
	return func(obj any) (any, error) {
		if whole, ok := obj.(*corev1.Secret); ok {
			return trim(whole), nil
		}
		return obj, nil // it has been trimmed before
	}
}

// sum is a checksum of the data. JSON has the keys of a map in order, and cannot
// take {"a": "bc"} for {"ab": "c"}.
func sum(data map[string][]byte) [sha256.Size]byte {
	if len(data) == 0 {
		return [sha256.Size]byte{} // no data, and an empty map of it, are the same
	}
	content, _ := json.Marshal(data) // a map of bytes can always be written
	return sha256.Sum256(content)
}

// copyOf is the source as it should be in the namespace: type, data and
// immutability. The labels and annotations of the source are not copied. They are
// about the source, such as "managed by Helm", and kubectl keeps the whole data in one.
//
// What others have added to the copy that there is, such as labels, remains.
func (r rules) copyOf(source *secret, namespace string, have *secret) *corev1.Secret {
	wanted := &corev1.Secret{Type: source.kind, Data: source.data}
	if source.immutable {
		wanted.Immutable = new(true)
	}
	if have != nil {
		have.DeepCopyInto(&wanted.ObjectMeta) // the resourceVersion, too
	}
	wanted.Namespace, wanted.Name = namespace, source.Name
	metav1.SetMetaDataLabel(&wanted.ObjectMeta, managedBy, program)
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, r.annotation, r.mark(source, namespace))
	return wanted
}
