package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/04-informer-queue/internal/testcluster"
)

func writeKubeconfig(t *testing.T, address string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: test, namespace: harbour}}, {name: other, context: {cluster: test, user: test}}]
users: [{name: test, user: {token: test}}]
current-context: test
`, address), 0o600))
	return path
}

func parse(t *testing.T, args ...string) *Flags {
	t.Helper()
	f := &Flags{}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.AddFlags(flags)
	f.AddNamespaceFlag(flags)
	require.NoError(t, flags.Parse(args))
	return f
}

func TestConfig(t *testing.T) {
	t.Setenv("KUBECONFIG", writeKubeconfig(t, "https://env"))
	t.Setenv("HOME", t.TempDir())
	other := writeKubeconfig(t, "https://flag")
	tests := map[string]struct {
		args            []string
		host, namespace string
	}{
		"KUBECONFIG":                     {nil, "https://env", "harbour"},
		"--kubeconfig before KUBECONFIG": {[]string{"--kubeconfig", other}, "https://flag", "harbour"},
		"--context":                      {[]string{"--context=other"}, "https://env", "default"},
		"-n before the context":          {[]string{"-n", "coast"}, "https://env", "coast"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config, namespace, err := parse(t, tc.args...).Config()
			require.NoError(t, err)
			assert.Equal(t, tc.host, config.Host)
			assert.Equal(t, tc.namespace, namespace)
			assert.Zero(t, config.Timeout, "it would end a watch")
		})
	}
}

func TestConfigThatMakesNoSense(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	for args, want := range map[string]string{
		"":                      "no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG",
		"--kubeconfig=/nowhere": "stat /nowhere: no such file or directory; correct --kubeconfig, --context or KUBECONFIG",
		"--context=moon":        `context "moon" does not exist; correct --kubeconfig, --context or KUBECONFIG`,
	} {
		f := parse(t)
		if args != "" {
			f = parse(t, args)
		}
		_, _, err := f.Config()
		require.EqualError(t, err, want)
	}
}

func TestExplain(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"401":           {apierrors.NewUnauthorized("Unauthorized"), "https://c does not accept the credentials: they are wrong or have expired; log in again, or get a new kubeconfig (Unauthorized)"},
		"403":           {apierrors.NewForbidden(pods, "", errors.New("no role")), "pods is forbidden: no role; ask an administrator for that verb on that resource"},
		"405":           {apierrors.NewMethodNotSupported(pods, "watch"), "this type cannot be listed and watched; kubectl api-resources --verbs=list,watch shows those that can (watch is not supported on resources of kind \"pods\")"},
		"a deadline":    {context.DeadlineExceeded, "https://c did not answer in time; see whether it is up with kubectl get --raw /readyz (context deadline exceeded)"},
		"503":           {apierrors.NewServiceUnavailable("starting"), "starting; see how the server is with kubectl get --raw /readyz"},
		"anything else": {errors.New("the disk is full"), "the disk is full"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { require.EqualError(t, Explain(tc.err, "https://c"), tc.want) })
	}
	assert.NoError(t, Explain(nil, "https://c"))
}

func TestExplainWhatTheNetworkSays(t *testing.T) {
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	for address, want := range map[string]string{
		"http://127.0.0.1:1":  "http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)",
		"http://moon.invalid": "the host of http://moon.invalid was not found; check its name in the kubeconfig, and the network",
		tls.URL:               "the certificate of " + tls.URL + " is not trusted; get a new kubeconfig, or make sure that this is the right server",
	} {
		config, _, err := (&Flags{Kubeconfig: writeKubeconfig(t, address)}).Config()
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
		_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		cancel()
		require.ErrorContains(t, Explain(err, address), want)
	}
}
