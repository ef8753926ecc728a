package cli

import (
	"errors"
	"flag"
	"fmt"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ConfigFlags are the flags that say which cluster is meant.
type ConfigFlags struct {
	Kubeconfig    string
	Context       string
	Namespace     string
	AllNamespaces bool // Namespace is ignored
}

const kubeconfigUsage = "the kubeconfig `file`; without it $KUBECONFIG, then ~/.kube/config, then the pod's service account"

// AddOperatorFlags adds -kubeconfig, -n and -all-namespaces to the flags of a program that has no
// commands.
func (f *ConfigFlags) AddOperatorFlags(flags *flag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", kubeconfigUsage)
	flags.StringVar(&f.Namespace, "n", "", "the `namespace`; without it the one of the kubeconfig's context")
	flags.BoolVar(&f.AllNamespaces, "all-namespaces", false, "all namespaces; -n is ignored")
}

// AddFlags adds --kubeconfig and --context.
func (f *ConfigFlags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", kubeconfigUsage)
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
	if f.AllNamespaces {
		namespace = metav1.NamespaceAll
	}
	// client-go limits a client to 5 requests a second unless told otherwise. The
	// programs here limit themselves, by what they do at the same time.
	config.QPS = -1
	return config, namespace, nil
}
