package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// knock asks for a little of what will be listed and watched. A cache that is
// refused tries again for ever, and only the log tells; at the start, a refusal
// is an error.
func knock(ctx context.Context, config *rest.Config, m manager.Manager, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// The clients of the manager do not watch; its cache does that for them.
	c, err := client.NewWithWatch(config, client.Options{HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}

	ours := client.MatchingLabels{lifecycle.ManagedBy: lifecycle.Operator}
	err = knockAt(ctx, c, &cnat.AtList{}, client.InNamespace(namespace))
	if apierrors.IsNotFound(err) {
		return errors.New("the cluster does not know Ats; tell it what they are with kubectl apply -f config/crd")
	} else if err != nil {
		return err
	}
	return knockAt(ctx, c, &corev1.PodList{}, client.InNamespace(namespace), ours)
}

// knockAt lists, and watches: these are two rights.
func knockAt(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	if err := c.List(ctx, list, append(options, client.Limit(1))...); err != nil {
		return err
	}
	watched, err := c.Watch(ctx, list, options...)
	if err != nil {
		return err
	}
	watched.Stop()
	return nil
}
