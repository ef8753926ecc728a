package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	layers "example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// knock asks for a little of all that will be listed, in each namespace. A cache
// that is refused tries again for ever, and only the log tells; at the start, a
// refusal is an error.
func knock(ctx context.Context, config *rest.Config, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	types, err := scheme()
	if err != nil {
		return err
	}
	resources, err := mapper(nil, nil)
	if err != nil {
		return err
	}
	server, err := client.New(config, client.Options{Scheme: types, Mapper: resources})
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	namespaces := o.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		if err := knockAt(ctx, server, namespace); err != nil {
			return err
		}
	}
	return nil
}

func knockAt(ctx context.Context, server client.Client, namespace string) error {
	for _, door := range []struct {
		list   client.ObjectList
		option client.ListOption
	}{
		{&cnat.AtList{}, client.Limit(1)},
		{&layers.SettingsLayerList{}, client.Limit(1)},
		{&corev1.PodList{}, client.MatchingLabels{lifecycle.ManagedBy: lifecycle.Operator}},
		{&corev1.ConfigMapList{}, client.MatchingFields{"metadata.name": configMap}},
	} {
		err := server.List(ctx, door.list, client.InNamespace(namespace), client.Limit(1), door.option)
		if apierrors.IsNotFound(err) {
			return errors.New("the cluster does not know Ats or SettingsLayers; tell it what they are with kubectl apply -k config/crd")
		} else if err != nil {
			return err
		}
	}
	return nil
}
