package upstream

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/net"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// newAPIServerCommand makes the upstream command. On a machine without a network it
// would not start, because it finds no address to announce; envtest, which knows
// nothing of that, gives it none.
func newAPIServerCommand() *cobra.Command {
	command := apiserver.NewAPIServerCommand()
	if _, err := net.ChooseHostInterface(); err != nil {
		announceLoopback(command.Flags())
	}
	return command
}

// announceLoopback sets other defaults, which the command line still overrides. The API
// refuses loopback addresses as endpoints, so none are published.
func announceLoopback(flags *pflag.FlagSet) {
	for name, value := range map[string]string{
		"advertise-address":        "127.0.0.1",
		"endpoint-reconciler-type": "none",
	} {
		if err := flags.Set(name, value); err != nil {
			panic(err) // upstream has renamed the flag
		}
	}
}
