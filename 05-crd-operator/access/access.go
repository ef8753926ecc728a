// Package access is what an operator's program knows about its kinds before it starts: where their
// URLs are, and whether it may read them.
package access

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// timeout is how long all requests of Check may take together.
const timeout = 10 * time.Second

// Read is what a cache lists and watches: a resource, or the part of it that has these labels and
// fields.
type Read struct {
	schema.GroupVersionResource
	Labels, Fields string // selectors
}

// Check lists and watches a little of what the caches will list and watch. A cache that is refused
// tries again forever, and only the log shows it; at the start, a refusal is an error.
func Check(ctx context.Context, config *rest.Config, namespace string, reads ...Read) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	for _, read := range reads {
		resource := client.Resource(read.GroupVersionResource).Namespace(namespace)
		options := metav1.ListOptions{LabelSelector: read.Labels, FieldSelector: read.Fields, Limit: 1}
		_, err := resource.List(ctx, options)
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("the cluster does not know %s; create their CRD, which is in config/crd", read.Resource)
		} else if err != nil {
			return err
		}
		// Listing is one right, and watching is another.
		watch, err := resource.Watch(ctx, options)
		if err != nil {
			return err
		}
		watch.Stop()
	}
	return nil
}

// Mapper returns a function for a manager's MapperProvider. It says at which URLs the kinds of a
// scheme are, all of which are in namespaces. A generated client has that in its code. By default, a
// manager discovers it from the server, without a deadline.
func Mapper(scheme *runtime.Scheme) func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	return func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
		m := meta.NewDefaultRESTMapper(nil)
		for kind := range scheme.AllKnownTypes() {
			m.Add(kind, meta.RESTScopeNamespace)
		}
		return m, nil
	}
}
