// Package manager is what runs in the cluster: the At operator and settings in one
// process, with what a platform asks of a program besides its work.
//
//	command.go           the flags, and the environment
//	manager.go           Run puts the parts together, starts them, and ends: start here
//	caches.go            what is cached, and in which namespaces
//	access.go            before it starts: can it list what it is to cache?
//	leader.go            of several managers, one works
//	health.go            is it ready, is it alive?
//	metrics.go           metrics about Ats
//	metrics_server.go    who may read them
//	profiles.go          what the runtime records, for those who look for a leak
//	log.go               lines for programs
//	trace.go             a trace around each reconcile and each request
//	rbac.go              what it may do
//	version.go           what runs
package manager
