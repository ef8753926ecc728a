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

// These are the errors that client-go and net/http return.
func TestExplain(t *testing.T) {
	const server = "https://example:6443"
	const late = server + " did not answer in time; see whether it is up with kubectl get --raw /readyz"
	dial := func(err error) error {
		return &url.Error{Op: "Get", URL: server + "/api/v1/namespaces", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
	}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"unauthorised": {
			apierrors.NewUnauthorized("Unauthorized"),
			server + " does not accept the credentials: they are wrong or have expired; log in again, or get a new kubeconfig (Unauthorized)",
		},
		"forbidden": {
			apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no")),
			"pods is forbidden: no; ask an administrator for that verb on that resource",
		},
		"our deadline":                             {dial(context.DeadlineExceeded), late},
		"a deadline of the network":                {dial(os.ErrDeadlineExceeded), late},
		"our deadline in the middle of the answer": {fmt.Errorf("reading the body: %w", context.DeadlineExceeded), late},
		"the server's own deadline":                {apierrors.NewTimeoutError("too slow", 0), late},
		"no connection": {
			dial(errors.New("no route to host")),
			server + " cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp: no route to host)",
		},
		"any other answer":  {apierrors.NewInternalError(errors.New("etcd is gone")), "Internal error occurred: etcd is gone"},
		"no request failed": {errors.New("the disk is full"), "the disk is full"},
	} {
		t.Run(name, func(t *testing.T) { require.EqualError(t, Explain(tc.err, server), tc.want) })
	}
	assert.NoError(t, Explain(nil, server))
}
