package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Explain adds to the error of a request what to do next, where the error itself does not say it.
//
// There are two families. If the server answered, client-go returns a *StatusError, and the
// functions of apierrors ask it for its reason. If no answer came, the error is a *url.Error.
// Any other error is returned as it is.
func Explain(err error, server string) error {
	var transport *url.Error
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept the credentials: they are wrong or have expired; log in again, or get a new kubeconfig (%w)", server, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; ask an administrator for that verb on that resource", err)
	case timedOut(err): // the cause is left out: one deadline shows in several ways
		return fmt.Errorf("%s did not answer in time; see whether it is up with kubectl get --raw /readyz", server)
	case errors.As(err, &transport):
		return fmt.Errorf("%s cannot be reached; start the cluster, or choose another with --context or --kubeconfig (%w)", server, transport.Err)
	default:
		return err
	}
}

// timedOut knows all the ways in which a deadline shows: ours, the network's,
// and the server's own.
func timedOut(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &network) && network.Timeout() ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}
