package component

import (
	"fmt"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
)

func controllerManager(l layout.Layout, s settings.Settings) Component {
	name := settings.ControllerManager
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
			// Every controller is a user of its own, with only its own rights.
			"--use-service-account-credentials",
			// Each of them begins with a few requests for its credentials. The usual
			// 20 requests a second would make the whole start wait for that.
			"--kube-api-qps=200",
			"--kube-api-burst=400",
			"--service-account-private-key-file=" + l.Key(pki.ServiceAccount),
			"--root-ca-file=" + l.Cert(pki.CA),
			"--cluster-signing-cert-file=" + l.Cert(pki.CA),
			"--cluster-signing-key-file=" + l.Key(pki.CA),
			// There is one of it: a lease would only delay every restart.
			"--leader-elect=false",
			"--profiling=false",
		},
	}
}
