package component

import (
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// etcd stores the cluster. Both its listeners ask for a certificate that the
// etcd authority signed, which only the API server and the lab itself have.
func etcd(l layout.Layout, s settings.Settings) Component {
	client := "https://" + s.Address(settings.Etcd)
	peer := "https://" + s.Address(settings.EtcdPeer)
	return Component{
		Name:    settings.Etcd,
		Listens: []int{s.Ports[settings.Etcd], s.Ports[settings.EtcdPeer]},
		Health:  client + "/health",
		Args: []string{
			"--name=lab",
			"--data-dir=" + l.EtcdData(),
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=lab=" + peer,
			"--client-cert-auth",
			"--trusted-ca-file=" + l.Cert(pki.EtcdCA),
			"--cert-file=" + l.Cert(pki.Etcd),
			"--key-file=" + l.Key(pki.Etcd),
			"--peer-client-cert-auth",
			"--peer-trusted-ca-file=" + l.Cert(pki.EtcdCA),
			"--peer-cert-file=" + l.Cert(pki.Etcd),
			"--peer-key-file=" + l.Key(pki.Etcd),
			// One member elects itself: there is nobody to wait for.
			"--heartbeat-interval=10",
			"--election-timeout=100",
			// Without fsync a write is safe when a process is killed, because the
			// kernel has it, but not when the power fails. A lab can be reset.
			"--unsafe-no-fsync",
			"--log-level=warn",
		},
	}
}
