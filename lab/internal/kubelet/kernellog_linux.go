package kubelet

import (
	"os"
	_ "unsafe" // for go:linkname
)

// inUserNS tells the kubelet whether it runs in a user namespace.
//
//go:linkname inUserNS github.com/moby/sys/userns.inUserNS
var inUserNS func() bool

// doWithoutKernelLog lets the kubelet run for a user who may not read the kernel's log, as on most
// machines. The kubelet looks there for processes that the kernel killed for want of memory, and it ends if it
// can't, unless it runs in a user namespace. So it's told that it does. The node says so too, in
// status.nodeInfo.runningInUserNamespace.
func doWithoutKernelLog() {
	log, err := os.Open("/dev/kmsg")
	if err != nil {
		inUserNS = func() bool { return true }
		return
	}
	_ = log.Close()
}
