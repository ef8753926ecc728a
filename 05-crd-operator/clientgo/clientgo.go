// Package clientgo is the operator for Ats, written by hand: on client-go, on the clients
// and informers in generated/, and on the queue of stage 4. Package controllerruntime is
// the same operator on a framework.
//
//	clientgo.go    the command line
//	controller.go  the caches, the queue, and reconcile
//	controller/    the queue of stage 4, with EnqueueAt
//	events.go      what was done, for kubectl describe
package clientgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// Command returns the program.
func Command() *cobra.Command {
	var (
		config        cli.ConfigFlags
		allNamespaces bool
		workers       int
		image         string
	)
	command := &cobra.Command{
		Use:   "clientgo",
		Short: "Run the commands of Ats when their time has come",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if workers < 1 {
				return cli.UsageError(command, fmt.Errorf("--workers is %d, it must be at least 1", workers))
			}
			config, namespace, err := config.Load()
			if err != nil {
				return err
			}
			if allNamespaces {
				namespace = metav1.NamespaceAll
			}
			return Run(command.Context(), config, Options{Namespace: namespace, Workers: workers, Image: image, Clock: wallclock.New()})
		},
	}
	flags := command.Flags()
	config.AddFlags(flags)
	config.AddNamespaceFlag(flags)
	flags.BoolVarP(&allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.IntVar(&workers, "workers", 8, "how `many` Ats to reconcile at the same time")
	flags.StringVar(&image, "command-image", lifecycle.DefaultImage, "the `image` that commands run in, with a sh")
	return command
}

// checkAccess lists and watches a little of what the informers will list and watch. An
// informer that is refused tries again for ever, and only the log shows it; at the start,
// a refusal is an error.
func checkAccess(ctx context.Context, ats versioned.Interface, kube kubernetes.Interface, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	atClient, podClient := ats.CnatV1alpha1().Ats(namespace), kube.CoreV1().Pods(namespace)
	all, ours := metav1.ListOptions{Limit: 1}, metav1.ListOptions{Limit: 1, LabelSelector: lifecycle.PodSelector}
	_, err := atClient.List(ctx, all)
	if apierrors.IsNotFound(err) {
		return errors.New("the cluster does not know Ats; create their CRD with kubectl apply -f config/crd")
	}
	if err == nil {
		_, err = podClient.List(ctx, ours)
	}
	// Listing is one right, and watching is another.
	if err == nil {
		err = stop(atClient.Watch(ctx, all))
	}
	if err == nil {
		err = stop(podClient.Watch(ctx, ours))
	}
	return err
}

// stop ends a watch that has begun.
func stop(w watch.Interface, err error) error {
	if err == nil {
		w.Stop()
	}
	return err
}
