// Package upstream calls the main functions of Kubernetes and etcd.
//
// Only the program that was asked for is constructed: two of these
// constructors install the same signal handler, and the second one panics.
package upstream

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the client libraries
	_ "k8s.io/component-base/metrics/prometheus/version"  // the build_info metric
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"example.com/hacking-a-controller/lab/internal/lifeline"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// Programs are the names of the multi-call binary, besides lab. Each takes its
// flags from os.Args and returns the exit code.
var Programs = map[string]func(lifeline.Files) int{
	settings.Etcd: func(lifeline.Files) int {
		etcdmain.Main(os.Args)
		return 0
	},
	settings.APIServer: func(lifeline.Files) int {
		return cli.Run(newAPIServerCommand())
	},
	settings.ControllerManager: func(lifeline.Files) int {
		return cli.Run(controllermanager.NewControllerManagerCommand())
	},
	settings.Scheduler: func(lifeline.Files) int {
		return cli.Run(scheduler.NewSchedulerCommand())
	},
	settings.Kubelet: func(line lifeline.Files) int {
		return cli.Run(newKubeletCommand(genericserver.SetupSignalContext(), line))
	},
	"kubectl": func(lifeline.Files) int {
		return Kubectl(os.Args[1:])
	},
}

// Kubectl runs kubectl with the given arguments and returns its exit code.
func Kubectl(args []string) int {
	os.Args = append([]string{"kubectl"}, args...) // kubectl looks here for plugins
	command := kubectlcmd.NewDefaultKubectlCommand()
	if err := cli.RunNoErrOutput(command); err != nil {
		kubectlutil.CheckErr(err) // prints as kubectl does, and exits
	}
	return 0
}
