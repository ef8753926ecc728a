package manager

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// environment is what getenv returns.
type environment map[string]string

func (e environment) getenv(name string) string { return e[name] }

func TestTheDefaults(t *testing.T) {
	o, err := ParseOptions(nil, environment{"POD_NAMESPACE": "cnat-system", "POD_NAME": "cnat-manager-1"}.getenv, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, Options{
		LeaderElect: true, LeaderNamespace: "cnat-system", Identity: "cnat-manager-1", Concurrency: 8, LogLevel: "info", LogFormat: "json",
		MetricsAddress: ":8443", HealthAddress: ":8081",
	}, o)
}

func TestTheCommandLineWinsOverTheEnvironment(t *testing.T) {
	o, err := ParseOptions(strings.Fields("--concurrency=3 --namespaces=quay,pier --leader-elect=false"), environment{
		"CONCURRENCY": "5", "LOG_LEVEL": "debug", "LOG_FORMAT": "text", "REGION": "coast", "METRICS_BIND_ADDRESS": "0",
		"HEALTH_BIND_ADDRESS": "10.0.0.1:8082", "METRICS_CERT_DIR": "/certs", "METRICS_TOKEN_FILE": "/token", "NAMESPACES": "harbour",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "KUBECONFIG": "a:b",
	}.getenv, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, Options{
		Concurrency: 3, LogLevel: "debug", LogFormat: "text", Region: "coast", MetricsAddress: "0", HealthAddress: "10.0.0.1:8082",
		MetricsCertDir: "/certs", MetricsTokenFile: "/token", Namespaces: []string{"quay", "pier"}, TraceEndpoint: "http://collector:4318",
	}, o)
}

func TestWrongOptions(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "--leader-elect needs a namespace for its Lease: say which with --leader-election-namespace, or --leader-elect=false if there is one manager only",
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
		_, err := ParseOptions(strings.Fields(args), environment{"POD_NAMESPACE": namespace}.getenv, io.Discard)
		require.EqualError(t, err, want+"; see manager --help", args)
	}
	_, err := ParseOptions(nil, environment{"CONCURRENCY": "many"}.getenv, io.Discard)
	require.EqualError(t, err, `the variable CONCURRENCY: invalid argument "many" for "--concurrency" flag: strconv.ParseInt: parsing "many": invalid syntax; see manager --help`)
}

func TestHelp(t *testing.T) {
	var help bytes.Buffer
	_, err := ParseOptions([]string{"--help"}, environment{}.getenv, &help)
	require.ErrorIs(t, err, pflag.ErrHelp)
	assert.Contains(t, help.String(), "Usage:\n  manager [flags]\n")
}
