package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What net/http and a server really return, the errors_test.go of the program tries.
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
