package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// requestTimeout is how long the answer to one request may take. A watch ends
// with its context.
const requestTimeout = 30 * time.Second

// source lists and watches the objects for the informer. On the way it notices
// two things that an informer does not report: that everything was listed once
// more, and that a request never worked. The second is an error of the user; an
// informer would retry forever.
type source struct {
	objects  dynamic.ResourceInterface
	selector string
	listed   func()      // a list has arrived, or its next page
	failed   func(error) // the first list failed, or watching is not allowed

	listWorked, watchWorked atomic.Bool
}

// informer keeps the objects of the source in a cache.
func (s *source) informer() (cache.SharedIndexInformer, error) {
	listWatch := &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(listWatch, s), &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
	logUnlessEnded := func(ctx context.Context, r *cache.Reflector, err error) {
		if ctx.Err() == nil {
			cache.DefaultWatchErrorHandler(ctx, r, err)
		}
	}
	return informer, errors.Join(informer.SetWatchErrorHandlerWithContext(logUnlessEnded), informer.SetTransform(slim))
}

// list reads one page.
func (s *source) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	options.LabelSelector = s.selector
	if options.ResourceVersion == "0" {
		// At its start, an informer takes any version, and a server that is busy may
		// have an old one at hand. With --once, nothing would come after it.
		options.ResourceVersion = ""
	}
	list, err := s.objects.List(ctx, options)
	switch {
	case err == nil:
		s.listWorked.Store(true)
		s.listed()
	case !s.listWorked.Load():
		s.failed(err)
	}
	return list, err
}

// watch opens a watch.
func (s *source) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.LabelSelector = s.selector
	stream, err := s.objects.Watch(ctx, options)
	switch {
	case err == nil:
		s.watchWorked.Store(true)
	case refused(err) && !s.watchWorked.Load():
		s.failed(err)
	}
	return stream, err
}

// IsWatchListSemanticsUnSupported makes the informer list. It would rather take
// a watch that begins with what exists, and collect that in a map, which has no
// order. A script should go through the objects in the order of their names.
func (s *source) IsWatchListSemanticsUnSupported() bool { return true }

// refused reports whether the server understood the request and refused it. The same
// request again is of no use.
func refused(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) ||
		apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// slim removes what no script wants, before the object goes into the cache: the record of who
// manages which field, half of many an object.
func slim(object any) (any, error) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	}
	return object, nil
}
