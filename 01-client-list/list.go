package main

import (
	"context"
	"errors"
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// pages yields the cluster's namespaces, one request per page. A list can be
// very long, so a client sets with Limit how much it takes at once. The server
// answers with so many objects and a Continue token, which stands for the rest;
// an empty token means that there is no rest. A limit of 0 requests everything.
//
// All pages show the cluster at the moment of the first one: the token carries
// that moment. client-go's tools/pager has this loop ready to use. It is
// written out here because Limit and Continue are the lesson.
//
// The timeout is for one page. It is in the context because client-go repeats
// a request when a busy server wants that. rest.Config's Timeout is a limit for
// all repetitions only where no other is set, and the List of a typed client sets
// TimeoutSeconds, which is 0 here. What is left of it is a limit that would begin
// anew each time.
func pages(ctx context.Context, client typedcorev1.NamespaceInterface, limit int64, timeout time.Duration) iter.Seq2[[]corev1.Namespace, error] {
	return func(yield func([]corev1.Namespace, error) bool) {
		options := metav1.ListOptions{Limit: limit}
		for {
			request, cancel := context.WithTimeout(ctx, timeout)
			list, err := client.List(request, options)
			cancel()
			if token := resumeToken(err); token != "" && token != options.Continue {
				options.Continue = token
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(list.Items, nil) || list.Continue == "" {
				return
			}
			options.Continue = list.Continue
		}
	}
}

// resumeToken returns the token that comes with 410 Gone. The server keeps
// the past for a few minutes only; a client that was slower gets a 410 in the
// middle of its list. The error then brings a second token: go on after the
// last object, but from the cluster as it is now. For a list that is printed
// that is what one wants. A client that needs one moment for all pages, such
// as a cache, must start again.
func resumeToken(err error) string {
	var status apierrors.APIStatus
	if apierrors.IsResourceExpired(err) && errors.As(err, &status) {
		return status.Status().Continue
	}
	return ""
}
