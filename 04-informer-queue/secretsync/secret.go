package secretsync

import (
	"crypto/sha256"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// secret is what the caches keep of a corev1.Secret. Of the data of a copy only
// a checksum is needed, to see whether it differs from that of its source. So
// fifty thousand copies are small, and this program has no data in its memory but that of
// the sources. Only controller.go reads these caches: a typed lister would panic.
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
