package component

import (
	"fmt"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// APIServerURL is where the lab's API server listens.
func APIServerURL(s settings.Settings) string {
	return "https://" + s.Address(settings.APIServer)
}

// serving is a URL that answers as soon as the API server listens. Long before
// it is ready it serves a kubelet, whose rights come from the Node authorizer.
func serving(s settings.Settings) string {
	return APIServerURL(s) + "/livez/ping"
}

// rolesExist is a URL that answers when the built-in roles have been written.
// Components whose rights come from these roles exit, or back off for seconds,
// if they are started earlier.
func rolesExist(s settings.Settings) string {
	return APIServerURL(s) + "/readyz/poststarthook/rbac/bootstrap-roles"
}

func apiServer(l layout.Layout, s settings.Settings) Component {
	return Component{
		Name:    settings.APIServer,
		Listens: []int{s.Ports[settings.APIServer]},
		Health:  APIServerURL(s) + "/readyz",
		Args: []string{
			"--bind-address=" + loopback,
			fmt.Sprintf("--secure-port=%d", s.Ports[settings.APIServer]),
			"--tls-cert-file=" + l.Cert(pki.APIServer),
			"--tls-private-key-file=" + l.Key(pki.APIServer),

			"--etcd-servers=https://" + s.Address(settings.Etcd),
			"--etcd-cafile=" + l.Cert(pki.EtcdCA),
			"--etcd-certfile=" + l.Cert(pki.EtcdClient),
			"--etcd-keyfile=" + l.Key(pki.EtcdClient),

			// Who you are, and what you may do.
			"--client-ca-file=" + l.Cert(pki.CA),
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + l.Key(pki.ServiceAccount),
			"--service-account-signing-key-file=" + l.Key(pki.ServiceAccount),

			// What service accounts asked for, and what the answers were.
			"--audit-policy-file=" + l.AuditPolicy(),
			"--audit-log-path=" + l.Log(Audit),
			fmt.Sprintf("--audit-log-maxsize=%d", auditLogSize),
			fmt.Sprintf("--audit-log-maxbackup=%d", auditLogsOld),

			// Whom an API server that extends this one (an APIService) believes when
			// a request comes with the name of its user in a header.
			"--requestheader-client-ca-file=" + l.Cert(pki.FrontProxyCA),
			"--requestheader-allowed-names=" + pki.FrontProxyClient,
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-username-headers=X-Remote-User",
			"--proxy-client-cert-file=" + l.Cert(pki.FrontProxyClient),
			"--proxy-client-key-file=" + l.Key(pki.FrontProxyClient),

			// Logs, exec and port-forward go from here to the kubelet.
			"--kubelet-certificate-authority=" + l.Cert(pki.CA),
			"--kubelet-client-certificate=" + l.Cert(pki.KubeletClient),
			"--kubelet-client-key=" + l.Key(pki.KubeletClient),
			"--kubelet-preferred-address-types=InternalIP",

			// The API refuses a loopback address as an endpoint of the service
			// default/kubernetes, so the lab publishes none. Saying which address
			// to advertise spares the server from looking for a network interface
			// that a laptop in a train does not have.
			"--advertise-address=" + loopback,
			"--endpoint-reconciler-type=none",
			"--service-cluster-ip-range=" + ServiceCIDR,
			"--service-node-port-range=" + s.NodePorts,
			// No service proxy: webhooks are called at their endpoints.
			"--enable-aggregator-routing=true",

			"--allow-privileged=true",
			"--profiling=false",
		},
	}
}
