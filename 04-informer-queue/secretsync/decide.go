package secretsync

import corev1 "k8s.io/api/core/v1"

// action is what is done about one copy, as it is printed.
type action string

const (
	leave   action = ""
	create  action = "created"
	update  action = "updated"
	replace action = "replaced"   // it differs in something that the server does not let change
	remove  action = "deleted"    // it should no longer be there
	collide action = "left alone" // a secret of that name is there, and is not ours
	refuse  action = "refused"    // a source that must not be copied
)

// decision is an action, and the reason for it in words.
type decision struct {
	action action
	why    string
}

// observed is what there is about one copy. What does not exist is nil.
type observed struct {
	source    *secret
	namespace *corev1.Namespace
	have      *secret // where the copy should be
}

// decide compares what is with what should be, and is all that this program knows
// about secrets: it makes no request and has no state. The order of the cases matters.
func (r rules) decide(o observed) decision {
	switch {
	// Nothing can be created in a namespace that is being deleted, and all that is
	// in it will be deleted.
	case o.namespace == nil, o.namespace.DeletionTimestamp != nil:
		return decision{leave, "the namespace is being deleted"}

	case !r.isTarget(o.namespace):
		return r.surplus(o.have, "the namespace is not a target")
	case isToken(o.source) && r.annotated(o.source) && o.have == nil:
		return decision{refuse, "the token of a service account is not copied"}
	case !r.isSource(o.source):
		return r.surplus(o.have, "it has no source")

	case o.have == nil:
		return decision{create, "it is missing"}
	case !r.made(o.have):
		return decision{collide, "it was not made by secretsync"}
	// A finalizer keeps it. When it is gone, the watch reports that.
	case o.have.DeletionTimestamp != nil:
		return decision{leave, "it is being deleted"}
	}
	return r.difference(o.source, o.have)
}

// surplus is about a secret which has no reason to be there.
func (r rules) surplus(have *secret, why string) decision {
	if have == nil || !r.made(have) || have.DeletionTimestamp != nil {
		return decision{leave, why}
	}
	return decision{remove, why}
}

// difference is about a copy of ours that should be there. The server refuses to
// change the type of a secret, the data of one that is immutable, and to
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
