package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unreached explains a request that has no answer. What is on the way to a server
// comes in this order: a program that logs in, a proxy, the host's name, the
// connection, and the certificates. Each has its own advice.
func unreached(err error, server string) error {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		network     *net.OpError
	)
	switch {
	case strings.HasPrefix(err.Error(), "getting credentials: "):
		return fmt.Errorf("the login helper that the kubeconfig names (users, exec) gave no credentials; install it, or log in again (%s)", helperError(err))
	case proxyRefused(err):
		return fmt.Errorf("the proxy on the way to %s did not let the request through; correct proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY (%w)", server, err)
	case errors.As(err, &name):
		return fmt.Errorf("the host of %s was not found; check its name in the kubeconfig, and the network (%w)", server, name)
	case timedOut(err):
		return late(server)
	case errors.As(err, &certificate):
		return mistrusted(certificate.Err, server)
	case errors.As(err, &network) && network.Op == "remote error": // an alert of TLS
		return fmt.Errorf("%s does not accept the client certificate: it is another cluster's, or has expired; get a new kubeconfig (%w)", server, network)
	case strings.HasSuffix(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("what listens at %s does not speak TLS; correct the server's address in the kubeconfig (%w)", server, err)
	case strings.HasPrefix(err.Error(), "stopped after "): // so many redirects
		return strange(server, err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%s ended the connection; run the command again, or see how it is with kubectl get --raw /readyz (%w)", server, err)
	default:
		return fmt.Errorf("%s cannot be reached; start the cluster, or choose another with --context or --kubeconfig (%w)", server, err)
	}
}

// helperError is the first line of client-go's error, which has no type, and the
// last one, if the kubeconfig gives a hint how to install the helper.
func helperError(err error) string {
	text, rest, _ := strings.Cut(strings.TrimPrefix(err.Error(), "getting credentials: "), "\n")
	if _, hint, found := strings.Cut(rest, "#client-go-credential-plugins"); found && strings.TrimSpace(hint) != "" {
		text += ": " + strings.Join(strings.Fields(hint), " ")
	}
	return text
}

// proxyRefused knows a proxy that cannot be reached, and one that answers, in place
// of a connection to the server, with a status, whose text is then all of the error.
func proxyRefused(err error) bool {
	if network, ok := errors.AsType[*net.OpError](err); ok && (network.Op == "proxyconnect" || strings.HasPrefix(network.Op, "socks")) {
		return true
	}
	for code := http.StatusMultipleChoices; code <= http.StatusNetworkAuthenticationRequired; code++ {
		if text := http.StatusText(code); text != "" && err.Error() == text {
			return true
		}
	}
	return false
}

// wantsTLS knows the answer of a server of Go's, such as Kubernetes', to HTTP in place of HTTPS.
func wantsTLS(err error) bool {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	return found && strings.HasPrefix(cause.Message, "Client sent an HTTP request to an HTTPS server")
}

// unreadable knows a page for people, such as one to log in to which a request was redirected, and
// an empty answer.
func unreadable(err error) bool {
	return strings.HasPrefix(err.Error(), "serializer for ") || strings.HasPrefix(err.Error(), "0-length response ")
}

// strange is for an answer that no API server gives: another program listens at the address, or
// a proxy answers in its place.
func strange(server string, err error) error {
	return fmt.Errorf("%s does not answer as an API server does; correct its address in the kubeconfig (%w)", server, err)
}

// mistrusted says why the server's certificate is not trusted.
func mistrusted(err error, server string) error {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return fmt.Errorf("the certificate of %s is not valid at this time; set the clock of this machine, or have the certificate renewed (%w)", server, err)
	}
	return fmt.Errorf("the certificate of %s is not trusted; get a new kubeconfig, or make sure that this is the right server (%w)", server, err)
}
