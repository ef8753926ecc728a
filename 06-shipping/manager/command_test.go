package manager

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// environment is what getenv returns.
type environment map[string]string

func (e environment) getenv(name string) string { return e[name] }

// parse returns the options that the manager would run with, and what it prints.
func (e environment) parse(t *testing.T, args ...string) (got Options, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	run := func(_ context.Context, o Options) error { got = o; return nil }
	code := cli.Run(t.Context(), Command(e.getenv, run), args, &out, &errs)
	assert.Equal(t, errs.Len() > 0, code == 1)
	return got, out.String(), errs.String()
}

func TestTheDefaults(t *testing.T) {
	o, _, stderr := environment{"POD_NAMESPACE": "cnat-system", "POD_NAME": "cnat-manager-1"}.parse(t)
	require.Empty(t, stderr)
	assert.Equal(t, Options{
		LeaderElect: true, LeaderNamespace: "cnat-system", Identity: "cnat-manager-1", Concurrency: 8, CommandImage: lifecycle.DefaultImage, LogLevel: "info", LogFormat: "json",
		MetricsAddress: ":8443", HealthAddress: ":8081",
	}, o)
}

func TestTheCommandLineWinsOverTheEnvironment(t *testing.T) {
	o, _, stderr := environment{
		"CONCURRENCY": "5", "LOG_LEVEL": "debug", "LOG_FORMAT": "text", "REGION": "coast", "METRICS_BIND_ADDRESS": "0",
		"HEALTH_BIND_ADDRESS": "10.0.0.1:8082", "METRICS_CERT_DIR": "/certs", "METRICS_TOKEN_FILE": "/token", "NAMESPACES": "harbour",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "KUBECONFIG": "a:b",
	}.parse(t, "--concurrency=3", "--namespaces=quay,pier", "--leader-elect=false", "--command-image=registry.example/busybox:1")
	require.Empty(t, stderr)
	assert.Equal(t, Options{
		Concurrency: 3, CommandImage: "registry.example/busybox:1", LogLevel: "debug", LogFormat: "text", Region: "coast", MetricsAddress: "0", HealthAddress: "10.0.0.1:8082",
		MetricsCertDir: "/certs", MetricsTokenFile: "/token", Namespaces: []string{"quay", "pier"}, TraceEndpoint: "http://collector:4318",
	}, o)
}

func TestWrongOptions(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "--leader-elect needs a namespace for its Lease: name it with --leader-election-namespace, or --leader-elect=false if there is one manager only",
		"--leader-elect=maybe":          `invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"--concurrency=0":               "--concurrency is 0, it must be at least 1",
		"--namespaces=quay,Pier":        `--namespaces has "Pier", which is not the name of a namespace`,
		"--namespaces=quay,,pier":       `--namespaces has "", which is not the name of a namespace`,
		"--log-level=loud":              `--log-level is "loud", it can be debug, info, warn or error`,
		"--log-format=xml":              `--log-format is "xml", it can be json or text`,
		"--metrics-bind-address=8443":   `--metrics-bind-address is "8443", it must be like :8443, or 0 for no metrics`,
		"--metrics-bind-address=:99999": `--metrics-bind-address is ":99999", it must be like :8443, or 0 for no metrics`,
		"--health-bind-address=0":       `--health-bind-address is "0", it must be like :8081`,
		"--moon":                        "unknown flag: --moon",
		"harbour":                       `unexpected argument "harbour"`,
	} {
		namespace := "cnat-system"
		if args == "" {
			namespace = ""
		}
		_, _, stderr := environment{"POD_NAMESPACE": namespace}.parse(t, strings.Fields(args)...)
		assert.Equal(t, "error: "+want+"; see manager --help\n", stderr)
	}
	for _, endpoint := range []string{"collector:4318", "127.0.0.1:4318", "http://", "grpc://collector:4317"} {
		_, _, stderr := environment{"POD_NAMESPACE": "cnat-system", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}.parse(t)
		assert.Equal(t, `error: OTEL_EXPORTER_OTLP_ENDPOINT is "`+endpoint+`", it must be like http://collector:4318; see manager --help`+"\n", stderr)
	}
	_, _, stderr := environment{"CONCURRENCY": "many"}.parse(t)
	assert.Equal(t, `error: the variable CONCURRENCY: invalid argument "many" for "--concurrency" flag: strconv.ParseInt: parsing "many": invalid syntax; see manager --help`+"\n", stderr)
}
