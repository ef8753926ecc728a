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

// A cache knows of a deletion only if it had the object. What was deleted while
// observe was down, nobody tells: it is simply not there. But the script has
// left traces of what it has handled, say an Ingress for each Service. --names
// lists them, and whatever it lists that is no more was deleted.

// errNames is for a --names that never worked. What worked once is tried again.
var errNames = errors.New("it must end with exit code 0, even when there is nothing to print")

// askNames runs --names and puts a Deleted into the queue for each name that it
// printed and that does not exist. It is called after every list.
func (o *observer) askNames(ctx context.Context) error {
	if !o.options.namesProgram.given() {
		return nil
	}
	printed, err := o.children.output(o.options.namesProgram, o.metrics.ranNames)
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
			o.pass.join(k)
			o.metrics.count(deletedEvent)
			// What waits for the name by now happened after that.
			o.pending.giveBack(k, event{gone: o.nameOnly(k)})
			o.queue.Enqueue(k)
		}
	}
	o.failures = 0
	return nil
}

// isGone asks the cache first, and then the server. An object that is not in
// the cache may be one that the selector leaves out.
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
		return false, fmt.Errorf("looking for %s, which --names printed: %w", k, cli.Explain(err, o.server))
	}
}

// nameOnly is all that is known of an object that went unseen.
func (o *observer) nameOnly(k key) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(o.mapping.GroupVersionKind)
	object.SetName(k.name)
	object.SetNamespace(k.namespace)
	return object
}

func isNameOnly(object *unstructured.Unstructured) bool { return object.GetUID() == "" }
