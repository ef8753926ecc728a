package component

import (
	"fmt"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

func scheduler(l layout.Layout, s settings.Settings) Component {
	return mayBeStatic(l, s, settings.Scheduler)
}

// mayBeStatic is the scheduler or the controller manager: it serves with a certificate of its own,
// and calls the API server with its kubeconfig.
func mayBeStatic(l layout.Layout, s settings.Settings, name string, flags ...string) Component {
	return Component{
		Name:    name,
		Listens: []int{s.Ports[name]},
		Health:  "https://" + s.Address(name) + "/healthz",
		WaitFor: rolesExist(s),

		MayBeStatic: true,
		Args: append([]string{
			"--kubeconfig=" + l.Kubeconfig(name),
			"--authentication-kubeconfig=" + l.Kubeconfig(name),
			"--authorization-kubeconfig=" + l.Kubeconfig(name),
			"--bind-address=" + loopback,
			fmt.Sprintf("--secure-port=%d", s.Ports[name]),
			"--tls-cert-file=" + l.Cert(name),
			"--tls-private-key-file=" + l.Key(name),
			// There is one of it: a lease would only delay every restart.
			"--leader-elect=false",
			"--profiling=false",
		}, flags...),
	}
}
