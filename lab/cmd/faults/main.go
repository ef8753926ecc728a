// Command faults has the lab's fault verbs on a node that kubeadm has made, where there is no lab:
// on the node of a hosted scenario. Its command serve runs the proxy.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/faults"
	"example.com/hacking-a-controller/lab/internal/verbs"
)

const (
	pki     = "/etc/kubernetes/pki/" // kubeadm's
	admin   = "/etc/kubernetes/admin.conf"
	folder  = "/run/lab-faults/"
	faulty  = folder + "kubeconfig"
	address = "127.0.0.1:29443"
)

var place = verbs.Place{
	Socket:     folder + "faults.sock",
	Faulty:     func() (string, error) { return faulty, nil },
	Kubeconfig: admin,
	Etcd: faults.Etcd{
		Address: "127.0.0.1:2379", CA: pki + "etcd/ca.crt",
		Cert: pki + "etcd/healthcheck-client.crt", Key: pki + "etcd/healthcheck-client.key",
	},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "lab", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(verbs.Commands(func() (verbs.Place, error) { return place, nil })...)
	root.AddCommand(&cobra.Command{Use: "serve", Short: "Run the proxy", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return serve(ctx) }})
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	server, err := writeKubeconfig()
	if err != nil {
		return err
	}
	requests, err := os.OpenFile(filepath.Join(folder, "requests.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer requests.Close()
	return faults.Run(ctx, faults.Options{
		Address: address, Server: server, Socket: place.Socket, Requests: requests,
		Credentials: faults.Credentials{
			CA:          pki + "ca.crt",
			ServingCert: pki + "apiserver.crt", ServingKey: pki + "apiserver.key",
			FrontProxyCert: pki + "front-proxy-client.crt", FrontProxyKey: pki + "front-proxy-client.key",
		},
	})
}

// writeKubeconfig writes the administrator's kubeconfig, with the proxy in place of the API server,
// whose address it returns.
func writeKubeconfig() (*url.URL, error) {
	config, err := clientcmd.LoadFromFile(admin)
	if err != nil {
		return nil, err
	}
	cluster := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil {
		return nil, err
	}
	cluster.Server = "https://" + address
	cluster.TLSServerName = "kubernetes" // the certificate is the API server's, and not for 127.0.0.1
	return server, clientcmd.WriteToFile(*config, faulty)
}
