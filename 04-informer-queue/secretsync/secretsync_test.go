package secretsync

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

func TestWrongInput(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	for args, want := range map[string]string{
		"--annotation=bad key":  `--annotation "bad key" is not the key of an annotation: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character; take one such as example.com/secretsync; see secretsync --help`,
		"--annotation=":         `--annotation "" is not the key of an annotation: name part must be non-empty; take one such as example.com/secretsync; see secretsync --help`,
		"--annotation=a/b/c":    `--annotation "a/b/c" is not the key of an annotation: a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character; take one such as example.com/secretsync; see secretsync --help`,
		"--annotation=-.com/x":  `--annotation "-.com/x" is not the key of an annotation: prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character; take one such as example.com/secretsync; see secretsync --help`,
		"--annotation=k8s.io/x": `--annotation "k8s.io/x" belongs to Kubernetes itself; take a key such as example.com/secretsync; see secretsync --help`,
		"--annotation=kubectl.kubernetes.io/last-applied-configuration": `--annotation "kubectl.kubernetes.io/last-applied-configuration" belongs to Kubernetes itself; take a key such as example.com/secretsync; see secretsync --help`,
		"--source-namespace=A":  `--source-namespace "A" is not the name of a namespace: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character; see secretsync --help`,
		"--source-namespace=":   `--source-namespace "" is not the name of a namespace: `,
		"--workers=0":           "--workers is 0, it must be at least 1; see secretsync --help",
		"--workers=many":        `invalid argument "many" for "--workers" flag`,
		"--resync-period=-1s":   "--resync-period is -1s, it must be 0 or at least 1s; see secretsync --help",
		"--resync-period=1ms":   "--resync-period is 1ms, it must be 0 or at least 1s; see secretsync --help",
		"--moon":                "unknown flag: --moon; see secretsync --help",
		"pods":                  `unexpected argument "pods"; see secretsync --help`,
		"--kubeconfig=/nowhere": "stat /nowhere: no such file or directory; correct --kubeconfig, --context or KUBECONFIG",
		"--workers=1":           "no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG",
	} {
		t.Run(args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, cli.Run(t.Context(), Command(), []string{args}, &stdout, &stderr))
			assert.Contains(t, stderr.String(), "error: "+want)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one sentence: %s", stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestDefaults(t *testing.T) {
	flags := Command().Flags()
	for name, want := range map[string]string{"source-namespace": "secretsync", "annotation": "example.com/secretsync", "resync-period": "10m0s", "workers": "8"} {
		assert.Equal(t, want, flags.Lookup(name).DefValue)
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Zero(t, cli.Run(t.Context(), Command(), []string{"--help"}, &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, flag := range []string{"--source-namespace", "--annotation", "--resync-period", "--workers", "--kubeconfig", "--context"} {
		assert.Contains(t, stdout.String(), flag)
	}
}
