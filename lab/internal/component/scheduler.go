package component

import (
	"fmt"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

func scheduler(l layout.Layout, s settings.Settings) Component {
	name := settings.Scheduler
	return Component{
		Name:    name,
		Port:    s.Ports[name],
		Listens: []int{s.Ports[name]},
		Health:  "https://" + s.Address(name) + "/healthz",
		WaitFor: rolesExist(s),

		MayBeStatic: true,
		Args: []string{
			"--kubeconfig=" + l.Kubeconfig(name),
			"--authentication-kubeconfig=" + l.Kubeconfig(name),
			"--authorization-kubeconfig=" + l.Kubeconfig(name),
			"--bind-address=" + loopback,
			fmt.Sprintf("--secure-port=%d", s.Ports[name]),
			"--tls-cert-file=" + l.Cert(name),
			"--tls-private-key-file=" + l.Key(name),
			"--leader-elect=false",
			"--profiling=false",
		},
	}
}
