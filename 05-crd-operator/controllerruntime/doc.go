// Package controllerruntime is the operator for Ats on controller-runtime, the
// framework beneath Kubebuilder and the Operator SDK. Package clientgo is the
// same operator by hand. Read the two side by side.
//
//	manager.go      put together what follows, start it, stop it
//	watches.go      what the server has, and which changes matter
//	reconciler.go   look, let package lifecycle decide, do it
//	memory.go       what this process knows before its caches do
//	knock.go        ask once, before it starts, whether it can work
//	rbac.go         what it must be allowed to do
//	command.go      the program around it
//
// A Manager owns the parts that every operator has, and gives them out:
//
//	here                        by hand
//	Manager.Start               start informers, wait for caches, run workers, wait
//	Manager.GetClient           a lister for each type, and a client to write
//	Manager.GetAPIReader        a client that reads from the server
//	Manager.GetEventRecorder    a broadcaster, with its start and its end
//	builder.For, Owns           informers, handlers, keys
//	predicates                  the conditions in those handlers
//	Reconcile and its Result    the loop: Get, Done, Forget, AddRateLimited, AddAfter
//
// What a framework does, it also hides. Five things of that matter here, and each
// is told where it is met: a read may start a watch, and a kind may be looked up
// without a deadline (manager.go); the queue is another one by default, with
// another clock (watches.go); the context of a pass ends when the program is told
// to stop, and an event may be lost (reconciler.go).
package controllerruntime
