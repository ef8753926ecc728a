package main

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// An informer reports a deletion only if its cache had the object. An object that was
// deleted while observe was down is simply missing. But the script has left traces of
// what it has handled, say an Ingress for each Service. --names lists them, and what
// it lists that does not exist was deleted.

// errNames is for a --names that never worked. If it has worked once, it is retried.
var errNames = errors.New("it must end with exit code 0, even when there is nothing to print")

// checkNames runs --names and records a Deleted for each name that it printed and that
// does not exist. It is called after every list.
func (c *controller) checkNames(ctx context.Context) error {
	if !c.options.names.given() {
		return nil
	}
	printed, err := c.children.output(namesEvent, c.options.names)
	var handled []cache.ObjectName
	if err == nil {
		handled, err = c.scope.parseNames(printed)
	}
	switch {
	case errors.Is(err, errKilled):
		return err
	case err != nil && !c.namesWorked:
		return fmt.Errorf("--names failed: %w; %w", err, errNames)
	case err != nil:
		return fmt.Errorf("--names failed: %w", err)
	}
	c.namesWorked = true

	for _, k := range handled {
		if c.children.stop.Err() != nil {
			return nil // the next start asks again
		}
		gone, err := c.isGone(ctx, k)
		if err != nil {
			return err
		}
		if gone {
			if len(c.fullSync) > 0 { // it ends after this, too
				c.fullSync[k] = true
			}
			c.metrics.count(deletedEvent)
			// What is pending for the name by now happened after that.
			c.pending.giveBack(k, event{gone: c.nameOnly(k)})
			c.queue.Add(k)
		}
	}
	c.failures = 0
	return nil
}

// isGone reads the cache, and then the server with a GET. An object that is not in the
// cache may be one that the selector leaves out.
func (c *controller) isGone(ctx context.Context, k cache.ObjectName) (bool, error) {
	if c.cached(k) != nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := c.client.Resource(c.mapping.Resource).Namespace(k.Namespace).Get(ctx, k.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		return false, nil
	case apierrors.IsNotFound(err):
		return true, nil
	default:
		return false, fmt.Errorf("reading %s, which --names printed: %w", k, err)
	}
}

// nameOnly is all that is known of an object that was deleted while observe was down.
func (c *controller) nameOnly(k cache.ObjectName) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(c.mapping.GroupVersionKind)
	object.SetName(k.Name)
	object.SetNamespace(k.Namespace)
	return object
}

func isNameOnly(object *unstructured.Unstructured) bool { return object.GetUID() == "" }
