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
	Kubeconfig string
	Context    string
	Namespace  string
}

// KubeconfigUsage is the help of -kubeconfig.
const KubeconfigUsage = "the kubeconfig `file`; without it $KUBECONFIG, then ~/.kube/config, then the pod's service account"

// AddFlags adds --kubeconfig and --context.
func (f *ConfigFlags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", KubeconfigUsage)
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
		return nil, "", errors.New("no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG, or one of its contexts with --context")
	case err != nil:
		return nil, "", fmt.Errorf("%w; correct --kubeconfig, --context or KUBECONFIG", err)
	}
	// client-go limits a client to 5 requests a second unless told otherwise. The
	// programs here limit themselves, by what they do at the same time.
	config.QPS = -1
	return config, namespace, nil
}

// OperatorFlags are the flags of an operator, which is a program without commands.
type OperatorFlags struct {
	ConfigFlags
	AllNamespaces bool // Namespace is ignored
	Workers       int  // how many objects to reconcile at the same time

	flags *flag.FlagSet
}

// AddFlags adds -kubeconfig, -n, -all-namespaces and -workers.
func (f *OperatorFlags) AddFlags(flags *flag.FlagSet, workers int, objects string) {
	f.flags = flags
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", KubeconfigUsage)
	flags.StringVar(&f.Namespace, "n", "", "the `namespace`; without it the one of the kubeconfig's context")
	flags.BoolVar(&f.AllNamespaces, "all-namespaces", false, "all namespaces; -n is ignored")
	flags.IntVar(&f.Workers, "workers", workers, "how `many` "+objects+" to reconcile at the same time")
}

// Load is Load of ConfigFlags, for the namespace that the flags name, or all of them.
func (f *OperatorFlags) Load() (config *rest.Config, namespace string, err error) {
	switch {
	case f.flags.NArg() > 0:
		return nil, "", fmt.Errorf("%q isn't a flag, and all flags after it would be ignored", f.flags.Arg(0))
	case f.Workers < 1:
		return nil, "", fmt.Errorf("-workers is %d; it must be at least 1", f.Workers)
	}
	config, namespace, err = f.ConfigFlags.Load()
	if f.AllNamespaces {
		namespace = metav1.NamespaceAll
	}
	return config, namespace, err
}
