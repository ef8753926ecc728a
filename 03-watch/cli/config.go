package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ConfigFlags are the flags that say which cluster is meant.
type ConfigFlags struct {
	Kubeconfig string
	Context    string
	Namespace  string
}

// AddFlags adds --kubeconfig and --context.
func (f *ConfigFlags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "the kubeconfig `file`; without it $KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringVar(&f.Context, "context", "", "the `name` of the kubeconfig context; without it the current one")
}

// AddNamespaceFlag adds --namespace.
func (f *ConfigFlags) AddNamespaceFlag(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "the `namespace`; without it the one of the context")
}

// Load answers two questions: where is the API server, and who are we to it? The
// first of these places that exists decides, in the order of kubectl:
//
//  1. the file that --kubeconfig names
//  2. the files that KUBECONFIG lists, merged; ~/.kube/config if it is not set
//  3. the service account of the pod that the program runs in
//
// It makes no request: a server that is down shows at the first one.
func (f *ConfigFlags) Load() (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: f.Context,
		Context:        clientcmdapi.Context{Namespace: f.Namespace},
	})
	config, err = loader.ClientConfig()
	if err == nil {
		namespace, _, err = loader.Namespace()
	}
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", errors.New("no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG")
	case err != nil:
		return nil, "", fmt.Errorf("%w; correct --kubeconfig, --context or KUBECONFIG", err)
	}
	if err := Login(config); err != nil {
		return nil, "", err
	}
	// client-go limits a client to 5 requests a second unless told otherwise. The
	// programs here limit themselves, by what they do at the same time.
	config.QPS = -1
	return config, namespace, nil
}
