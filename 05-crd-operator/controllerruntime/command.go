package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

const defaultWorkers = 8

// Command returns the program.
func Command() *cobra.Command {
	var (
		config        cli.ConfigFlags
		allNamespaces bool
		workers       int
		image         string
	)
	command := &cobra.Command{
		Use:   "controllerruntime",
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
			// The manager logs with the logger of the context; a few corners of the
			// framework log with a global one.
			ctrl.SetLogger(klog.FromContext(command.Context()))
			return Run(command.Context(), config, Options{Namespace: namespace, Workers: workers, Image: image})
		},
	}
	flags := command.Flags()
	config.AddFlags(flags)
	config.AddNamespaceFlag(flags)
	flags.BoolVarP(&allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.IntVar(&workers, "workers", defaultWorkers, "how `many` Ats to reconcile at the same time")
	flags.StringVar(&image, "command-image", lifecycle.DefaultImage, "the `image` that commands run in, with a sh")
	return command
}

// checkAccess lists and watches a little of what the cache will list and watch. A
// cache that is refused tries again for ever, and only the log shows it; at the
// start, a refusal is an error.
func checkAccess(ctx context.Context, config *rest.Config, mgr ctrl.Manager, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// The clients of the manager do not watch; its cache does that for them.
	c, err := client.NewWithWatch(config, client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	err = checkListAndWatch(ctx, c, &cnat.AtList{}, client.InNamespace(namespace))
	if apierrors.IsNotFound(err) {
		return errors.New("the cluster does not know Ats; create their CRD with kubectl apply -f config/crd")
	} else if err != nil {
		return err
	}
	return checkListAndWatch(ctx, c, &corev1.PodList{}, client.InNamespace(namespace), client.MatchingLabels{lifecycle.ManagedBy: lifecycle.Operator})
}

func checkListAndWatch(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	if err := c.List(ctx, list, append(options, client.Limit(1))...); err != nil {
		return err
	}
	watch, err := c.Watch(ctx, list, options...)
	if err != nil {
		return err
	}
	watch.Stop()
	return nil
}
