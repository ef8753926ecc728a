// Package load measures how much the manager takes, and for how long it holds. It does so in a
// lab of its own, in which KWOK simulates the nodes: their pods cost an API server as much as
// others, and the machine nothing.
//
//	command.go    the two measurements, their flags and what they print: start here
//	ramp.go       more and more Ats a second, until it bends
//	soak.go       hours of Ats, while leaders are killed and watches are cut
//	cluster.go    the lab, its simulated nodes, and a way to take them down
//	managers.go   managers as processes, of which one leads
//	workload.go   Ats at a steady rate, and the pods that came of them
//	process.go    programs that run until they are ended
//	machine.go    how busy the machine was
//	metrics.go    what the manager and the API server report about themselves
//	trend.go      does it grow? Theil-Sen, and not two points
//	e2e           a soak of a manager that leaks
//
// Most figures of the lesson and of the manifests come from here. The idea of a ramp of real
// objects against a real API server is that of kboom (github.com/mhausenblas/kboom).
package load
