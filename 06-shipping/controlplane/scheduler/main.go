// Command scheduler is kube-scheduler with one more plug-in, SpreadStarts. A profile of
// its configuration turns the plug-in on: see config.yaml.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the client libraries
	_ "k8s.io/component-base/metrics/prometheus/version"  // the build_info metric
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"example.com/hacking-a-controller/06-shipping/controlplane/scheduler/spreadstarts"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(spreadstarts.Name, spreadstarts.New))))
}
