// Package e2e installs the manager as its users do, from an archive and a file of
// manifests, in a lab of its own with pods that run. Then things go wrong.
//
//	install_test.go      all chapters in their order; install and uninstall
//	metrics_test.go      what a Prometheus reads
//	load_test.go         Ats that are due all the time, while things go wrong
//	pods_test.go         the pods that ever were
//	disasters_test.go    what goes wrong
//	leaders_test.go      two leaders
//	permissions_test.go  what the manager was allowed to do, and what it did
//	helm_test.go         the same with the chart, in another lab
//	lab_test.go          the lab, and kubectl
//
// All chapters of install_test.go share one installation: each finds what the one before has left,
// and the last one takes all of it away. Whatever goes wrong, each At has one pod, ever,
// which runs its command once, and no At is lost.
package e2e
