// Package controllerruntime is the operator for Ats on controller-runtime, the
// framework beneath Kubebuilder and the Operator SDK. Package clientgo is the same
// operator by hand.
//
//	at_controller.go   the Reconciler: start here
//	manager.go         the manager that it is added to, with its caches
//	command.go         the program around it
//
// A manager owns the parts that every operator has, and gives them out:
//
//	here                        by hand
//	Manager.Start               start informers, wait for caches, run workers, wait
//	Manager.GetClient           a lister for each type, and a client to write
//	Manager.GetAPIReader        a client that reads from the server
//	Manager.GetEventRecorder    a broadcaster, with its start and its end
//	builder.For, Watches        informers, handlers, keys
//	predicates                  the conditions in those handlers
//	Reconcile and its Result    the loop: Get, Done, Forget, AddRateLimited, AddAfter
//
// What a framework does, it also hides. Four things of that matter here: a read may
// start a watch, and a kind may be looked up without a deadline (manager.go); the
// queue has another clock by default, and the context of a reconcile ends when the
// program is to stop (at_controller.go).
package controllerruntime
