// Package permissions compares what a service account may do with what it did.
//
// What it may do stands in manifests: Roles, ClusterRoles and their bindings,
// see [Rules]. What it did stands in the API server's audit log, see [Log].
// [Compare] takes both and tells which rights were never used, and which were
// needed and not granted.
//
// A right here is a [Grant]: one verb on one resource, for one name if the rule
// has names, in one namespace or cluster-wide. Rules are taken apart into these,
// and matched, by the functions that Kubernetes itself uses to find out whether
// one rule covers another.
//
// Two kinds of request ask for more than the log shows, and are not looked into:
// those made as somebody else (the right to impersonate), and exec, attach and
// port-forward over WebSockets (the right to create them). Such rights show up
// as never used.
package permissions
