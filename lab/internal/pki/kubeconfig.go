package pki

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/layout"
)

// Context is the name of the context, the cluster and the user in the lab's
// kubeconfigs.
const Context = "lab"

// FaultProxy names the kubeconfig that leads to the proxy of package faults.
const FaultProxy = "fault-proxy"

// WriteKubeconfigs writes the kubeconfig for people and one for each component
// that calls the API server at server (https://HOST:PORT). Keys are embedded:
// the file works from anywhere and is all that one needs. The contexts of others stay.
func WriteKubeconfigs(l layout.Layout, server string) error {
	for file, name := range map[string]string{
		l.AdminKubeconfig():             Admin,
		l.Kubeconfig(ControllerManager): ControllerManagerClient,
		l.Kubeconfig(Scheduler):         SchedulerClient,
		l.Kubeconfig(Kubelet):           KubeletClientOfAPI,
	} {
		if err := writeKubeconfig(file, server, l.Cert(CA), l.Cert(name), l.Key(name)); err != nil {
			return fmt.Errorf("writing the kubeconfig of %s: %w", name, err)
		}
	}
	return nil
}

// WriteFaultsKubeconfig writes the administrator's kubeconfig once more, for programs that call the
// API server through the proxy of package faults, which listens at server.
func WriteFaultsKubeconfig(l layout.Layout, server string) error {
	if err := writeKubeconfig(l.Kubeconfig(FaultProxy), server, l.Cert(CA), l.Cert(Admin), l.Key(Admin)); err != nil {
		return fmt.Errorf("writing the kubeconfig of %s: %w", FaultProxy, err)
	}
	return nil
}

func writeKubeconfig(file, server, caFile, certFile, keyFile string) error {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return err
	}
	config, err := clientcmd.LoadFromFile(file)
	if err != nil { // there is none yet, or it is damaged
		config = clientcmdapi.NewConfig()
	}
	own := &clientcmdapi.Context{Cluster: Context, AuthInfo: Context}
	if old := config.Contexts[Context]; old != nil {
		own.Namespace = old.Namespace
	}
	config.Clusters[Context] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[Context] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[Context] = own
	config.CurrentContext = Context
	data, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return atomicfile.Write(file, data)
}
