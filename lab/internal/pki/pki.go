package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"

	"golang.org/x/sync/errgroup"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/layout"
)

// Names of key pairs, as [layout.Layout.Cert] and [layout.Layout.Key] take them.
const (
	// CA signs everything in the cluster. EtcdCA is a second authority, because
	// etcd lets in everybody whose certificate its authority signed: with one
	// authority for both, any user of the cluster could read etcd directly.
	CA     = "ca"
	EtcdCA = "etcd-ca"

	// FrontProxyCA signs only FrontProxyClient, the certificate that the API
	// server shows to API servers that extend it. Anyone with such a certificate
	// may claim to be any user, so it has an authority of its own.
	FrontProxyCA     = "front-proxy-ca"
	FrontProxyClient = "front-proxy-client"

	// Etcd and the four after it are serving certificates.
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"

	// EtcdClient and KubeletClient are what the API server shows when it calls
	// etcd and the kubelet.
	EtcdClient    = "kube-apiserver-etcd-client"
	KubeletClient = "kube-apiserver-kubelet-client"

	// Admin and the three after it are client certificates; their kubeconfigs
	// are written by [WriteKubeconfigs].
	Admin                   = "admin"
	ControllerManagerClient = "kube-controller-manager-client"
	SchedulerClient         = "kube-scheduler-client"
	KubeletClientOfAPI      = "kubelet-client"

	// ServiceAccount signs and verifies service account tokens. It is a bare
	// key, not a certificate.
	ServiceAccount = "service-account"
)

// groupMasters may do everything: the API server does not even ask RBAC.
const groupMasters = "system:masters"

// Create makes the authorities and the service account key unless they exist,
// and signs every other certificate again. It returns a sentence for each file
// that was broken and is replaced.
func Create(l layout.Layout, nodeName, firstServiceIP string) (sentences []string, err error) {
	authorities := map[string]*authority{}
	for name, commonName := range map[string]string{CA: "lab", EtcdCA: "lab-etcd", FrontProxyCA: "lab-front-proxy"} {
		a, more, err := loadOrCreateAuthority(commonName, l.Cert(name), l.Key(name))
		sentences = append(sentences, more...)
		if err != nil {
			return sentences, err
		}
		authorities[name] = a
	}
	if err := issueAll(l, authorities, nodeName, firstServiceIP); err != nil {
		return sentences, err
	}
	more, err := ensureServiceAccountKey(l.Key(ServiceAccount))
	return append(sentences, more...), err
}

// issueAll signs every certificate but those of the authorities. All at once: each
// waits for the disk.
func issueAll(l layout.Layout, authorities map[string]*authority, nodeName, firstServiceIP string) error {
	ca, etcdCA, frontProxyCA := authorities[CA], authorities[EtcdCA], authorities[FrontProxyCA]
	local := []string{"127.0.0.1", "localhost"}
	apiHosts := append([]string{firstServiceIP, "kubernetes", "kubernetes.default", "kubernetes.default.svc"}, local...)
	var all errgroup.Group
	for name, leaf := range map[string]struct {
		by *authority
		subject
	}{
		// etcd is both: with its peers it is server and client in one.
		Etcd:       {etcdCA, subject{User: "etcd", Hosts: local, Client: true}},
		EtcdClient: {etcdCA, subject{User: "kube-apiserver", Client: true}},

		FrontProxyClient: {frontProxyCA, subject{User: FrontProxyClient, Client: true}},

		APIServer:         {ca, subject{User: "kube-apiserver", Hosts: apiHosts}},
		ControllerManager: {ca, subject{User: "kube-controller-manager", Hosts: local}},
		Scheduler:         {ca, subject{User: "kube-scheduler", Hosts: local}},
		Kubelet:           {ca, subject{User: nodeName, Hosts: append([]string{nodeName}, local...)}},

		// The user names and groups below are those that the API server's
		// built-in roles are bound to.
		KubeletClient:           {ca, subject{User: "kube-apiserver-kubelet-client", Groups: []string{groupMasters}, Client: true}},
		Admin:                   {ca, subject{User: "kubernetes-admin", Groups: []string{groupMasters}, Client: true}},
		ControllerManagerClient: {ca, subject{User: "system:kube-controller-manager", Client: true}},
		SchedulerClient:         {ca, subject{User: "system:kube-scheduler", Client: true}},
		KubeletClientOfAPI:      {ca, subject{User: "system:node:" + nodeName, Groups: []string{"system:nodes"}, Client: true}},
	} {
		all.Go(func() error { return leaf.by.issue(leaf.subject, l.Cert(name), l.Key(name)) })
	}
	return all.Wait()
}

// ensureServiceAccountKey keeps a key that exists: with another one, every
// token in every running pod would be refused. One that is broken it replaces,
// and says so.
func ensureServiceAccountKey(file string) (sentences []string, err error) {
	_, err = readPEM(file, x509.ParseECPrivateKey)
	if err == nil {
		return nil, nil
	}
	sentences, err = atomicfile.SetAsideIfBroken(err, "tokens of service accounts are signed with a new key. Pods get new tokens when they start; a token that you keep elsewhere has to be made again")
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return sentences, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return sentences, fmt.Errorf("making the service account key: %w", err)
	}
	return sentences, writePEM(file, "EC PRIVATE KEY", der)
}
