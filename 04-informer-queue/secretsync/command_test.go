package secretsync

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/testcluster"
)

func commandLine(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "line")
	s.source("db", "tide")
	s.target("harbour")
	ctx, cancel := context.WithCancel(t.Context())
	var stderr testcluster.Output
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, Command(), []string{"--kubeconfig", c.Kubeconfig, "--annotation", s.rules.annotation, "--source-namespace", s.rules.sourceNamespace, "--workers=2", "--resync-period=0"}, &s.out, &stderr)
	}()
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	cancel()
	assert.Zero(t, <-code)
	assert.Equal(t, "created "+s.name+"-harbour/db: it is missing\n", s.out.String())
	assert.Empty(t, stderr.String())

	var missing bytes.Buffer
	require.NoError(t, checkAccess(t.Context(), c.Client, rules{sourceNamespace: "moon"}, &missing))
	assert.Equal(t, "# there is no namespace moon yet; secrets are copied once it is there\n", missing.String())
}

func printsNoData(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "silent")
	var log testcluster.Output
	s.log = funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{Verbosity: 4})
	s.source("db", "unmistakable")
	s.source("seal", "unmistakable", immutable)
	s.target("harbour")
	s.target("coast")
	s.create("coast/db", "unmistakable, too")
	stop := s.start(refuseOnce("PUT"), refuseOnce("POST"), refuseOnce("DELETE"))
	s.becomes(map[string]string{"harbour/db": "key=unmistakable", "harbour/seal": "key=unmistakable immutable",
		"coast/db": "key=unmistakable, too foreign", "coast/seal": "key=unmistakable immutable"})
	s.set("source/db", "unmistakable as well")
	s.delete("source/seal")
	s.becomes(map[string]string{"harbour/db": "key=unmistakable as well", "coast/db": "key=unmistakable, too foreign"})
	event := eventsOf(s, 1)[0]
	stop()

	all := s.out.String() + log.String() + event.String()
	assert.Contains(t, log.String(), "trying again later")
	assert.NotContains(t, all, "unmistakable")
	assert.NotContains(t, all, "dW5taXN0YWthYmxl", "nor in base64")
	assert.NotContains(t, all, "117 110 109 105", "nor as bytes")
}

func forbidden(t *testing.T, c *testcluster.Cluster) {
	var stderr bytes.Buffer
	assert.Equal(t, 1, cli.Run(t.Context(), Command(), []string{"--kubeconfig", c.UserKubeconfig(t, "jane")}, io.Discard, &stderr))
	assert.Equal(t, `error: secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope; ask an administrator for that verb on that resource`+"\n", stderr.String())
}
