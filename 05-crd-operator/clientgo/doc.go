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
//	write.go       the two writes: create the pod, update the status
//	memory.go      what this process knows before its caches do
//	events.go      tell what was done, for kubectl describe
//	rbac.go        what it must be allowed to do
//
// Nothing here knows what an At needs; package lifecycle does. A pass of
// reconcile does at most one thing, and the change that comes of it starts the
// next pass:
//
//	the At is due        ▶ create the pod   ▶ the pod is seen   ▶ status RUNNING
//	the pod has ended                                           ▶ status DONE
//
// If five thousand Ats are due at one moment, their keys stand in the queue
// before those of the pods that come of them. So all pods are created first, and
// the statuses follow.
//
// A status that was written starts no pass. So whatever is to happen later is
// put into the queue in the same pass, with its time.
package clientgo
