// Package podclient is the beginning that podruntime has in common with others: a
// client for the pods of one namespace, or of all.
package podclient

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

// Flags are the flags that say which pods are meant.
type Flags struct {
	config        cli.ConfigFlags
	allNamespaces bool
}

// AddFlags adds --kubeconfig, --context, --namespace and --all-namespaces.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	f.config.AddFlags(flags)
	f.config.AddNamespaceFlag(flags)
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
}

// Connect returns a client that may list the pods, and their namespace.
func (f *Flags) Connect(ctx context.Context) (client kubernetes.Interface, namespace string, err error) {
	config, namespace, err := f.config.Load()
	if err != nil {
		return nil, "", err
	}
	if f.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	client, err = kubernetes.NewForConfig(config)
	if err != nil {
		return nil, "", fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	return client, namespace, cli.Explain(checkAccess(ctx, client, namespace), config.Host)
}

// checkAccess lists one pod. An informer that is refused tries again for ever, and
// only the log shows it; at the start, a refusal is an error.
func checkAccess(ctx context.Context, client kubernetes.Interface, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	return err
}
