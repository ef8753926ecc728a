// Package observe makes a controller out of a script: it runs a command once for
// every object of a type, and again whenever one of them changes.
//
//	signals.go   Ctrl-C: let the child end, then kill it
//	flags.go     the command line, checked before anything runs
//	resource.go  RESOURCE, the type that is meant
//	source.go    list and watch it
//	events.go    what has happened to an object and was not told yet
//	observer.go  the handlers, and the reconcile that tells a command
//	pass.go      when everything has been told once
//	names.go     what the script has handled, and is no more
//	scope.go     which names are any business of ours
//	argument.go  templates that become arguments, in two languages: jsonpath.go, gotemplate.go
//	command.go   the line that is run, and the header that shows it
//	child.go     a process that can be waited for, and killed
//	metrics.go   what is counted
//	reap.go      what a process with the number 1 owes to orphans
//	run.go       all of it, tied together
//
// One worker takes the keys from the queue of package controller, so one child
// runs at a time.
package observe
