package secretsync

import corev1 "k8s.io/api/core/v1"

// action is what can be done about one secret in one namespace.
type action int

const (
	leave   action = iota
	create         // there is none
	update         // it differs
	replace        // it differs in something that the server does not let change
	remove         // it should no longer be there
	collide        // a secret of that name is there, and not ours to touch
	refuse         // a source that must not be copied
)

// decision is an action, and the reason for it in words.
type decision struct {
	action action
	why    string
}

// decide compares what is with what should be, and is all that this program
// knows about secrets: it makes no request and remembers nothing. Each of the
// three may be nil, which means that there is none. The order of the questions
// matters.
func (r rules) decide(source *secret, namespace *corev1.Namespace, have *secret) decision {
	switch {
	// Nothing can be created in a namespace that is on its way out, and all
	// that is in it will be deleted.
	case namespace == nil, namespace.DeletionTimestamp != nil:
		return decision{leave, "the namespace is going"}

	case !r.isTarget(namespace):
		return r.surplus(have, "the namespace is not a target")
	case isToken(source) && r.annotated(source) && have == nil:
		return decision{refuse, "the token of a service account is not copied"}
	case !r.isSource(source):
		return r.surplus(have, "it has no source")

	case have == nil:
		return decision{create, "it is missing"}
	case !r.made(have):
		return decision{collide, "it was not made by secretsync"}
	// A finalizer keeps it. When it is gone, the watch says so.
	case have.DeletionTimestamp != nil:
		return decision{leave, "it is being deleted"}
	}
	return r.difference(source, have)
}

// surplus is about a secret which has no reason to be there.
func (r rules) surplus(have *secret, why string) decision {
	if have == nil || !r.made(have) || have.DeletionTimestamp != nil {
		return decision{leave, why}
	}
	return decision{remove, why}
}

// difference is about a copy of ours that should be there. The server lets
// nobody change the type of a secret, nor the data of one that is immutable, nor
// make that mutable again. Metadata can always be changed.
func (r rules) difference(source, have *secret) decision {
	switch {
	case have.kind != source.kind:
		return decision{replace, "its type differs"}
	case have.immutable && (!source.immutable || have.sum != source.sum):
		return decision{replace, "it differs and is immutable"}
	case have.sum != source.sum:
		return decision{update, "its data differs"}
	case have.immutable != source.immutable:
		return decision{update, "it should be immutable"}
	case have.Annotations[r.annotation] != r.mark(source, have.Namespace):
		return decision{update, "its source was made anew"}
	default:
		return decision{leave, "it is as it should be"}
	}
}
