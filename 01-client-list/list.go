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

// pages yields the namespaces of the cluster, one request per page. The server answers with at most limit
// objects and a continue token, which stands for the rest. A limit of 0 requests everything.
//
// All pages show the cluster at the moment of the first one, since the token carries that moment.
// client-go's tools/pager has this loop ready to use.
//
// The timeout is for one page. It's in the context, so the wait for client-go's rate limiter counts, too.
// The Timeout of a rest.Config begins after that, and would end watches as well.
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

// resumeToken returns the token that comes with 410 Gone. The server keeps the past for a few minutes. A
// slower client gets a 410 in the middle of its list, with a new token: go on after the last object, but
// from the cluster as it is now. A printed list can go on like that. A cache needs one moment for all
// pages, so it must start again.
func resumeToken(err error) string {
	var status apierrors.APIStatus
	if apierrors.IsResourceExpired(err) && errors.As(err, &status) {
		return status.Status().Continue
	}
	return ""
}
