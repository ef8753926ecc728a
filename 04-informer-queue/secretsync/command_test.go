package secretsync

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/04-informer-queue/internal/testcluster"
)

func dryRun(t *testing.T, c *testcluster.Cluster) {
	s := newScene(t, c, "dry")
	for _, name := range []string{"db", "mail", "seal", "gone"} {
		s.source(name, name)
	}
	s.target("harbour")
	stop := s.start()
	s.becomes(map[string]string{"harbour/db": "key=db", "harbour/mail": "key=mail", "harbour/seal": "key=seal", "harbour/gone": "key=gone"})
	stop()
	plan := func() string {
		requests := &ledger{}
		config := *c.Config
		requests.watch(&config)
		var stdout, stderr bytes.Buffer
		args := []string{"--dry-run", "--kubeconfig", c.Kubeconfig, "--annotation", s.rules.annotation, "--source-namespace", s.rules.sourceNamespace}
		ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
		defer cancel()
		require.Zero(t, Run(ctx, args, &stdout, &stderr), stderr.String())
		require.NoError(t, ctx.Err(), "it ends by itself")
		assert.Empty(t, requests.all())
		return stdout.String()
	}
	assert.Empty(t, plan())

	s.target("coast")
	s.create("coast/mail", "mine")
	s.set("source/db", "ebb")
	s.delete("source/gone")
	s.patch("harbour/seal", `{"immutable":true}`)
	want, err := s.state(t.Context())
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(`would create dry-coast/db: it is missing
would leave alone dry-coast/mail: it was not made by secretsync
would create dry-coast/seal: it is missing
would update dry-harbour/db: its data differs
would delete dry-harbour/gone: it has no source
would replace dry-harbour/seal: it differs and is immutable
`, "dry", s.name), plan())
	s.becomes(want)
	eventsOf(s, 0)
}

func commandLine(t *testing.T, c *testcluster.Cluster) {
	s := newScene(t, c, "line")
	s.source("db", "tide")
	s.target("harbour")
	ctx, cancel := context.WithCancel(t.Context())
	var stderr lockedBuffer
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, []string{"--kubeconfig", c.Kubeconfig, "--annotation", s.rules.annotation, "--source-namespace", s.rules.sourceNamespace, "--workers=2", "--resync-period=0"}, &s.out, &stderr)
	}()
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	cancel()
	assert.Zero(t, <-code)
	assert.Equal(t, "created "+s.name+"-harbour/db: it is missing\n", s.out.String())
	assert.Empty(t, stderr.String())

	var missing bytes.Buffer
	require.Zero(t, Run(t.Context(), []string{"--dry-run", "--kubeconfig", c.Kubeconfig, "--source-namespace=moon", "--annotation=moon.example.com/x"}, io.Discard, &missing))
	assert.Equal(t, "# there is no namespace moon yet; secrets are copied once it is there\n", missing.String())
}

func tellsNoData(t *testing.T, c *testcluster.Cluster) {
	s := newScene(t, c, "silent")
	var log lockedBuffer
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

	said := s.out.String() + log.String() + event.String()
	assert.Contains(t, log.String(), "trying again later")
	assert.NotContains(t, said, "unmistakable")
	assert.NotContains(t, said, "dW5taXN0YWthYmxl", "nor in base64")
	assert.NotContains(t, said, "117 110 109 105", "nor as bytes")
}

func forbidden(t *testing.T, c *testcluster.Cluster) {
	var stderr bytes.Buffer
	assert.Equal(t, 1, Run(t.Context(), []string{"--kubeconfig", c.UserKubeconfig(t, "jane")}, io.Discard, &stderr))
	assert.Equal(t, `error: secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope; ask an administrator for that verb on that resource`+"\n", stderr.String())
}
