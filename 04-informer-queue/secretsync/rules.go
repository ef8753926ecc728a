package secretsync

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
