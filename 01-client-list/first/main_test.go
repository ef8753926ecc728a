package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/01-client-list/internal/testcluster"
)

func TestTheNamespacesArePrinted(t *testing.T) {
	c := testcluster.Start(t)
	// The API server makes its own in the background after it is ready.
	assert.EventuallyWithT(t, func(collect *assert.CollectT) {
		var out bytes.Buffer
		require.NoError(collect, run(t.Context(), c.Config, &out))
		assert.Equal(collect, "default\nkube-node-lease\nkube-public\nkube-system\n", out.String())
	}, testcluster.TestTimeout, 50*time.Millisecond)
}

func TestAServerThatIsNotThereIsAnError(t *testing.T) {
	err := run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, nil)
	require.ErrorContains(t, err, "listing the namespaces: ")
	require.ErrorContains(t, err, "connection refused")
}
