package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// These are the errors that client-go and net/http return.
func TestExplain(t *testing.T) {
	const server = "https://example:6443"
	const late = server + " did not answer in time; see whether it is up with kubectl get --raw /readyz"
	namespaces := schema.GroupResource{Resource: "namespaces"}
	get := func(err error) error { return &url.Error{Op: "Get", URL: server + "/api/v1/namespaces", Err: err} }

	tests := map[string]struct {
		err  error
		want string
	}{
		"unauthorised": {
			apierrors.NewUnauthorized("Unauthorized"),
			server + " does not accept the credentials: they are wrong or have expired; log in again, or get a new kubeconfig (Unauthorized)",
		},
		"forbidden": {
			apierrors.NewForbidden(namespaces, "", errors.New(`User "jane" cannot list resource "namespaces" in API group "" at the cluster scope`)),
			`namespaces is forbidden: User "jane" cannot list resource "namespaces" in API group "" at the cluster scope; ask an administrator for that verb on that resource`,
		},
		"a verb that the type does not have": {
			apierrors.NewMethodNotSupported(namespaces, "watch"),
			`this type does not have that verb; kubectl api-resources -o wide shows the verbs of each (watch is not supported on resources of kind "namespaces")`,
		},
		"expired, and no token to go on with": {
			apierrors.NewResourceExpired("too old"),
			"the server has forgotten the rest of the list; run the command again (too old)",
		},
		"our deadline":              {get(context.DeadlineExceeded), late},
		"a deadline of the network": {get(&net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}), late},
		"our deadline in the middle of the answer": {
			fmt.Errorf("reading the body: %w", context.DeadlineExceeded), late,
		},
		"the server's own deadline": {apierrors.NewTimeoutError("too slow", 0), late},
		"a name without an address": {
			get(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "example", IsNotFound: true}}),
			"the host of " + server + " was not found; check its name in the kubeconfig, and the network (lookup example: no such host)",
		},
		"no connection": {
			get(&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")}),
			server + " cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp: no route to host)",
		},
		"a login helper that is not there": {
			get(errors.New("getting credentials: exec: executable login not found\n\nIt looks like you are trying to use a client-go credential plugin that is not installed.\n\nTo learn more about this feature, consult the documentation available at:\n      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins\n\nask the harbour office\nfor it")),
			"the login helper that the kubeconfig names (users, exec) gave no credentials; install it, or log in again (exec: executable login not found: ask the harbour office for it)",
		},
		"a login helper that fails": {
			get(errors.New("getting credentials: exec: executable login failed with exit code 3")),
			"the login helper that the kubeconfig names (users, exec) gave no credentials; install it, or log in again (exec: executable login failed with exit code 3)",
		},
		"a proxy that is not there": {
			get(&net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("connection refused")}),
			"the proxy on the way to " + server + " did not let the request through; correct proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY (proxyconnect tcp: connection refused)",
		},
		"a proxy without an address": {
			get(&net.OpError{Op: "proxyconnect", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "proxy", IsNotFound: true}}),
			"the proxy on the way to " + server + " did not let the request through; correct proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY (proxyconnect tcp: lookup proxy: no such host)",
		},
		"a proxy that wants a password": {
			get(errors.New("Proxy Authentication Required")),
			"the proxy on the way to " + server + " did not let the request through; correct proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY (Proxy Authentication Required)",
		},
		"a name server that does not answer in time": {
			get(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "i/o timeout", Name: "example", IsTimeout: true}}),
			"the host of " + server + " was not found; check its name in the kubeconfig, and the network (lookup example: i/o timeout)",
		},
		"a certificate that has expired, or a clock that is wrong": {
			get(&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time is after 2020"}}),
			"the certificate of " + server + " is not valid at this time; set the clock of this machine, or have the certificate renewed (x509: certificate has expired or is not yet valid: current time is after 2020)",
		},
		"a client certificate that is refused": {
			get(&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}),
			server + " does not accept the client certificate: it is another cluster's, or has expired; get a new kubeconfig (remote error: tls: bad certificate)",
		},
		"a connection that ends": {
			get(io.EOF),
			server + " ended the connection; run the command again, or see how it is with kubectl get --raw /readyz (EOF)",
		},
		"an API behind the server that is down": {
			apierrors.NewServiceUnavailable("the server is currently unable to handle the request"),
			"the server is currently unable to handle the request; the server, or what serves this type behind it, is down: kubectl get apiservices shows which",
		},
		"any other answer": {
			apierrors.NewInternalError(errors.New("etcd is gone")),
			"Internal error occurred: etcd is gone; see how the server is with kubectl get --raw /readyz",
		},
		"no request failed": {errors.New("the disk is full"), "the disk is full"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { require.EqualError(t, Explain(tc.err, server), tc.want) })
	}
	assert.NoError(t, Explain(nil, server))
}

func TestATypeWhoseAPIIsDownIsUnavailable(t *testing.T) {
	unknown := errors.New("there is no type moons")
	assert.Equal(t, unknown, Unavailable(unknown, nil))
	assert.Equal(t, unknown, Unavailable(unknown, errors.New("no answer at all")))
	down := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
		{Group: "tides", Version: "v1"}: errors.New("503"), {Group: "sky", Version: "v1"}: errors.New("503"),
	}}
	require.EqualError(t, Unavailable(unknown, down), "there is no type moons; but of sky/v1, tides/v1 there was no answer, so its types are unavailable, not unknown: kubectl get apiservices says why")
}
