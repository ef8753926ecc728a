package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Explain turns the error of a request into a sentence that says what went wrong
// and what to do next.
//
// There are two families. If the server answered, client-go returns a
// *StatusError, and the functions of apierrors ask it for its reason. If no
// answer came, the error is from what is on the way to the server: see unreached.
// Any other error is returned as it is.
func Explain(err error, server string) error {
	var (
		transport *url.Error
		status    apierrors.APIStatus
	)
	switch {
	case err == nil:
		return nil

	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept the credentials: they are wrong or have expired; log in again, or get a new kubeconfig (%w)", server, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; ask an administrator for that verb on that resource", err)
	case apierrors.IsMethodNotSupported(err):
		return fmt.Errorf("this type does not have that verb; kubectl api-resources -o wide shows the verbs of each (%w)", err)
	case apierrors.IsResourceExpired(err):
		return fmt.Errorf("the server has forgotten the rest of the list; run the command again (%w)", err)

	case apierrors.IsServiceUnavailable(err):
		return fmt.Errorf("%w; the server, or what serves this type behind it, is down: kubectl get apiservices shows which", err)
	case errors.As(err, &transport):
		return unreached(transport.Err, server)
	case timedOut(err):
		return late(server)

	case wantsTLS(err):
		return fmt.Errorf("%s speaks TLS; write https:// before its address in the kubeconfig (%w)", server, err)
	case errors.As(err, &status):
		return fmt.Errorf("%w; see how the server is with kubectl get --raw /readyz", err)
	case unreadable(err):
		return strange(server, err)
	default:
		return err // no request failed
	}
}

// late leaves the cause out: one deadline shows in several ways.
func late(server string) error {
	return fmt.Errorf("%s did not answer in time; see whether it is up with kubectl get --raw /readyz", server)
}

// timedOut knows all the ways in which a deadline shows: ours, the network's,
// and the server's own.
func timedOut(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &network) && network.Timeout() ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}

// Cause drops the method and the URL, which net/http puts before every error.
func Cause(err error) error {
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return transport.Err
	}
	return err
}
