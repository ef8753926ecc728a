package component

import (
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
)

func controllerManager(l layout.Layout, s settings.Settings) Component {
	return mayBeStatic(l, s, settings.ControllerManager,
		// Every controller is a user of its own, with only its own rights.
		"--use-service-account-credentials",
		// Each of them begins with a few requests for its credentials. The usual
		// 20 requests a second would make the whole start wait for that.
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--service-account-private-key-file="+l.Key(pki.ServiceAccount),
		"--root-ca-file="+l.Cert(pki.CA),
		"--cluster-signing-cert-file="+l.Cert(pki.CA),
		"--cluster-signing-key-file="+l.Key(pki.CA),
	)
}
