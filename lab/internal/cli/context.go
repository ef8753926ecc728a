package cli

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/pki"
)

// ownContext returns an error unless a kubeconfig of the lab leads to it. $KUBECONFIG names the
// file, so kind, gcloud and kubectl config write into it.
func ownContext(file string) error {
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig (to write it: lab down, then lab up): %w", err)
	}
	if config.CurrentContext != pki.Context {
		return fmt.Errorf("%s leads to the context %q, not to the lab (to go back: kubectl --kubeconfig=%s config use-context %s)",
			file, config.CurrentContext, quote(file), pki.Context)
	}
	return nil
}
