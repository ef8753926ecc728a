// Package manager is what runs in the cluster: the At operator and settings in one
// process, with all that a platform asks of a program besides doing its work.
//
//	options.go   what can be set when it is installed
//	manager.go   put together what follows, start it, stop it
//	caches.go    what it reads, and in which namespaces
//	knock.go     ask once, before it starts, whether it can work
//	leader.go    of several managers one works
//	health.go    is it ready, does it still move
//	serve.go     who may read the metrics
//	metrics.go   what they tell
//	log.go       lines for programs
//	trace.go     where the time goes
//	explain.go   what to do about an error
//	rbac.go      what it must be allowed to do
//	version.go   what runs
package manager
