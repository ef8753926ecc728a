// Package cluster finds the cluster that a program is to work on, and says in a
// sentence what is wrong when it cannot be reached.
package cluster

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags are the flags with which users say which cluster they mean. Stage 1
// shows what clientcmd does with them.
type Flags struct {
	Kubeconfig string
	Context    string
	Namespace  string
}

// AddFlags adds --kubeconfig and --context to the flags of a program.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "the kubeconfig `file`; without it $KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringVar(&f.Context, "context", "", "the `name` of the kubeconfig context; without it the current one")
}

// AddNamespaceFlag adds -n to the flags of a program.
func (f *Flags) AddNamespaceFlag(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "the `namespace`; without it the one of the context")
}

// Config finds the cluster and the namespace. It makes no request. Only a
// configuration that is missing or makes no sense is an error; what the server
// says comes later, and is for Explain.
func (f *Flags) Config() (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: f.Context,
		Context:        clientcmdapi.Context{Namespace: f.Namespace},
	})
	config, err = loader.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", errors.New("no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG")
	case err != nil:
		return nil, "", fmt.Errorf("%w; correct --kubeconfig, --context or KUBECONFIG", err)
	}
	namespace, _, err = loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("%w; name the namespace with -n", err)
	}
	// client-go holds a client to 5 requests a second unless told otherwise.
	// The number of workers is restraint enough.
	config.QPS = -1
	return config, namespace, nil
}
