package observe

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

// An informer reports a deletion only if its cache had the object. An object that was
// deleted while observe was down is simply missing. But the script has left traces of
// what it has handled, say an Ingress for each Service. --names lists them, and what
// it lists that does not exist was deleted.

// errNames is for a --names that never worked. If it has worked once, it is retried.
var errNames = errors.New("it must end with exit code 0, even when there is nothing to print")

// checkNames runs --names and records a Deleted for each name that it printed and that
// does not exist. It is called after every list.
func (o *observer) checkNames(ctx context.Context) error {
	if !o.options.names.given() {
		return nil
	}
	printed, err := o.children.output(o.options.names, o.metrics.ranNames)
	var handled []key
	if err == nil {
		handled, err = o.scope.parseNames(printed)
	}
	switch {
	case errors.Is(err, errKilled):
		return err
	case err != nil && !o.namesWorked:
		return fmt.Errorf("--names failed: %w; %w", err, errNames)
	case err != nil:
		return fmt.Errorf("--names failed: %w", err)
	}
	o.namesWorked = true

	for _, k := range handled {
		gone, err := o.isGone(ctx, k)
		if err != nil {
			return err
		}
		if gone {
			o.fullSync.join(k)
			o.metrics.count(deletedEvent)
			// What is pending for the name by now happened after that.
			o.pending.giveBack(k, event{gone: o.nameOnly(k)})
			o.queue.Enqueue(k)
		}
	}
	o.failures = 0
	return nil
}

// isGone reads the cache, and then the server with a GET. An object that is not in the
// cache may be one that the selector leaves out.
func (o *observer) isGone(ctx context.Context, k key) (bool, error) {
	if _, exists := o.cached(k); exists {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := o.client.Resource(o.mapping.Resource).Namespace(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	switch {
	case err == nil:
		return false, nil
	case apierrors.IsNotFound(err):
		return true, nil
	default:
		return false, fmt.Errorf("reading %s, which --names printed: %w", k, cli.Explain(err, o.server))
	}
}

// nameOnly is all that is known of an object that was deleted while observe was down.
func (o *observer) nameOnly(k key) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(o.mapping.GroupVersionKind)
	object.SetName(k.name)
	object.SetNamespace(k.namespace)
	return object
}

func isNameOnly(object *unstructured.Unstructured) bool { return object.GetUID() == "" }
