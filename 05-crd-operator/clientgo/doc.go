// Package clientgo is the operator for Ats, written by hand: on client-go, on the
// generated clients in generated/, and on the queue loop of stage 4. Package
// controllerruntime is the same operator on a framework. Read the two side by
// side.
//
//	command.go     the command line
//	options.go     where to work, and when
//	run.go         put together what follows, start it, stop it
//	caches.go      what the server has, and which changes matter
//	queue/         the loop of stage 4, with a clock
//	reconcile.go   look, let package lifecycle decide, do it
//	write.go       the writes: status, pod, finalizer
//	events.go      tell what was done, for kubectl describe
//	rbac.go        what it must be allowed to do
//
// Nothing here knows what an At needs; package lifecycle does. A reconcile makes at
// most one write, and the event of that write brings the key back for the next.
package clientgo
