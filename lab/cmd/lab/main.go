// Command lab is Kubernetes in one program.
//
// It is a multi-call binary: what it does depends on the name it is called by.
// As etcd, kube-apiserver, kube-controller-manager, kube-scheduler or kubectl it
// is that upstream program. As kubelet it is the upstream kubelet over
// the lab's own runtime. As lab it is the command that starts and stops them.
package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"example.com/hacking-a-controller/lab/internal/cli"
	"example.com/hacking-a-controller/lab/internal/lifeline"
	"example.com/hacking-a-controller/lab/internal/upstream"
)

// restAfter is when a process has done what a start takes.
const restAfter = 20 * time.Second

func main() {
	line := lifeline.Inherit()
	go line.ExitWhenCut()
	name := filepath.Base(os.Args[0])
	if run, ok := upstream.Programs[name]; ok {
		// A start leaves a lot of garbage behind. It would stay until the heap has
		// doubled, which in an idle cluster takes forever. From then on garbage may
		// be half of what's alive: before, a smaller heap would slow the start down.
		time.AfterFunc(restAfter, func() {
			debug.SetGCPercent(50)
			debug.FreeOSMemory()
		})
		os.Exit(run(line))
	}
	os.Exit(cli.Run(os.Args[1:]))
}
