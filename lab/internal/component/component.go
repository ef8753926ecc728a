// Package component describes the processes that make up the lab: which flags
// each gets, where it answers about its health, and what it has to wait for.
// One file is one component.
package component

import (
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

const (
	// NodeName is the name of the lab's only real node.
	NodeName = "lab-node"
	// ServiceCIDR is the range of ClusterIPs. Nothing routes them (see LIMITS.md).
	ServiceCIDR = "10.96.0.0/16"
	// FirstServiceIP is the ClusterIP of the service default/kubernetes.
	FirstServiceIP = "10.96.0.1"

	loopback = "127.0.0.1"
)

// Component is one process of the lab, a name of the multi-call binary.
type Component struct {
	// Name is also the process name and the name of the log file.
	Name string
	// Args are the flags, without the program's name.
	Args []string
	// Listens are its TCP ports on 127.0.0.1, the one that people would look for first.
	Listens []int
	// Health is the URL that answers 200 when the component is healthy. A plain
	// http URL needs no credentials.
	Health string
	// WaitFor, if set, is a URL that has to answer 200 before the component is
	// first started.
	WaitFor string
	// MayBeStatic is true for what may run as a static pod instead, see package staticpod.
	MayBeStatic bool
	// Last, if set, are the flags of one more run of the program, after this
	// component was stopped and before those that it calls are.
	Last []string
}

// All returns the components in the order in which they are started.
func All(l layout.Layout, s settings.Settings) []Component {
	return []Component{
		etcd(l, s),
		apiServer(l, s),
		controllerManager(l, s),
		scheduler(l, s),
		kubelet(l, s),
	}
}
