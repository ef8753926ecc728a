package pki

import (
	"fmt"
	"maps"
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

// WriteKubeconfigs writes the kubeconfig for people and one for each component that calls the API
// server at server (https://HOST:PORT), and the administrator's once more, for programs that call it
// through the proxy of package faults, which listens at faults. Keys are embedded: a file works from
// anywhere and is all that one needs. The contexts of others stay.
func WriteKubeconfigs(l layout.Layout, server, faults string) error {
	for file, of := range map[string]struct{ client, server string }{
		l.AdminKubeconfig():             {Admin, server},
		l.Kubeconfig(ControllerManager): {ControllerManagerClient, server},
		l.Kubeconfig(Scheduler):         {SchedulerClient, server},
		l.Kubeconfig(Kubelet):           {KubeletClientOfAPI, server},
		l.Kubeconfig(FaultProxy):        {Admin, faults},
	} {
		if err := writeKubeconfig(file, of.server, l.Cert(CA), l.Cert(of.client), l.Key(of.client)); err != nil {
			return fmt.Errorf("writing the kubeconfig of %s: %w", of.client, err)
		}
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
	return write(file, config)
}

func write(file string, config *clientcmdapi.Config) error {
	data, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return atomicfile.Write(file, data)
}

// TakeOutContext returns the path of the kubeconfig for people if it has more in it than the lab's
// own, and a function that takes the lab's out of it.
func TakeOutContext(l layout.Layout) (others []string, takeOut func() error) {
	config, err := clientcmd.LoadFromFile(l.AdminKubeconfig())
	if err != nil { // there is none, or it is damaged
		return nil, nil
	}
	delete(config.Clusters, Context)
	delete(config.AuthInfos, Context)
	maps.DeleteFunc(config.Contexts, func(name string, c *clientcmdapi.Context) bool {
		return name == Context || c.Cluster == Context
	})
	if len(config.Clusters)+len(config.AuthInfos)+len(config.Contexts) == 0 {
		return nil, nil
	}
	if config.Contexts[config.CurrentContext] == nil {
		config.CurrentContext = ""
	}
	return []string{l.AdminKubeconfig()}, func() error { return write(l.AdminKubeconfig(), config) }
}
