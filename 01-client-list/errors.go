package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
)

// explain adds to an error what to do next. There are two families. If the server answered, client-go
// returns the answer as an error, and the functions of apierrors know its reason. If no answer came, the
// error is a *url.Error, and what is in it says how far the request got.
func explain(err error) error {
	var noAnswer *url.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case clientcmd.IsEmptyConfig(err):
		return errors.New("no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG, or one of its contexts with --context")

	case apierrors.IsUnauthorized(err): // 401: it doesn't know who you are
		return fmt.Errorf("%w; log in again, or get a new kubeconfig", err)
	case apierrors.IsForbidden(err): // 403: it knows, and you may not
		return fmt.Errorf("%w; ask an administrator for that verb on that resource", err)
	case apierrors.IsResourceExpired(err): // 410
		return fmt.Errorf("%w; the server has forgotten the rest of the list: run the command again", err)

	case errors.Is(err, context.Canceled):
		return errors.New("interrupted: the list is not complete")
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w; see whether the server is up: kubectl get --raw /readyz", err)
	case errors.As(err, &certificate):
		return fmt.Errorf("%w; get a new kubeconfig, or make sure that this is the right server", err)
	case errors.As(err, &noAnswer):
		return fmt.Errorf("%w; start the cluster, or choose another with --kubeconfig or --context", err)
	}
	return err
}
