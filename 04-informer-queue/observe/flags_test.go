package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrongInputIsOneSentence(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no resource":              {[]string{}, "name the RESOURCE to observe, such as pods or deployments.apps; see observe --help"},
		"two resources":            {[]string{"pods", "services"}, `one RESOURCE can be observed, "services" is a second; a command goes after --`},
		"an object":                {[]string{"pods/a"}, `RESOURCE is "pods/a", it must be one type, such as pods or deployments.apps`},
		"an unknown flag":          {[]string{"pods", "--moon"}, "unknown flag: --moon"},
		"an output":                {[]string{"pods", "-o", "yaml"}, `unknown output "yaml", it can be jsonpath or gotemplate`},
		"a jsonpath":               {[]string{"pods", "-a", "{.x"}, `the template "{.x" does not parse: unclosed action; correct --argument, or the language with --output`},
		"a gotemplate":             {[]string{"pods", "-o", "gotemplate", "-a", "{{.x"}, `the template "{{.x" does not parse: template: output:1: unclosed action; correct --argument, or the language with --output`},
		"--names without --delete": {[]string{"pods", "--names", "true"}, "--names needs --delete, the program to run for each object that no longer exists"},
		"no command":               {[]string{"pods", "--", "no-such-command"}, `the command cannot be run: exec: "no-such-command": executable file not found in $PATH; name a program in $PATH, or the path of an executable file`},
		"no exit code":             {[]string{"pods", "--retry-on-exit-code", "256"}, `invalid argument "256" for "--retry-on-exit-code" flag: strconv.ParseUint: parsing "256": value out of range`},
		"no kubeconfig":            {[]string{"pods", "--kubeconfig", "/nowhere"}, "stat /nowhere: no such file or directory"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, run(nil, tc.args, &stdout, &stderr))
			assert.Equal(t, "error: "+tc.want+"\n", stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

// parseOptions returns the options of a command line.
func parseOptions(t testing.TB, args ...string) *options {
	t.Helper()
	o, err := parseFlags(args, io.Discard)
	require.NoError(t, err)
	return o
}

func TestDefaults(t *testing.T) {
	o := parseOptions(t, "pods")
	o.cluster = nil
	assert.Equal(t, &options{
		resource: "pods", output: "jsonpath", maximumErrors: 20, retryCount: 2, listenAddr: "127.0.0.1:11251",
	}, o)
}

func TestFlags(t *testing.T) {
	o := parseOptions(t,
		"-A", "-n", "harbour", "-l", "a=b", "deployments.apps", "-a", "{.x},{.y}", "--argument={.z}", "-o", "jsonpath", "--strict-templates",
		"-d", "true", "-d", "--force", "--delete=a,b", "--names", "true", "--names=x", "--type-env-var=T", "--object-env-var=O",
		"--resync-period=1m", "--once", "--exit-after=2m", "--maximum-errors=-1", "--retry-on-exit-code=75", "--retry-count=5",
		"-q", "--listen-addr=", "--print-metrics-on-exit", "--", "echo", "-A", "--", "x",
	)
	assert.Len(t, o.arguments, 2)
	assert.Equal(t, "harbour", *o.cluster.Namespace)
	for _, p := range []*program{&o.program, &o.delete, &o.names} {
		assert.NotEmpty(t, p.path)
		p.path = ""
	}
	o.arguments, o.cluster = nil, nil
	assert.Equal(t, &options{
		resource: "deployments.apps", allNamespaces: true, selector: "a=b",
		program:   program{line: []string{"echo", "-A", "--", "x"}},
		delete:    program{line: []string{"true", "--force", "a,b"}},
		names:     program{line: []string{"true", "x"}},
		templates: []string{"{.x},{.y}", "{.z}"}, output: "jsonpath", strict: true,
		typeVariable: "T", objectVariable: "O",
		once: true, exitAfter: 2 * time.Minute, resyncPeriod: time.Minute, maximumErrors: -1, retryExitCode: 75, retryCount: 5,
		quiet: true, printMetrics: true,
	}, o)
}

func TestHelpGoesToStdoutAndIsNoFailure(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, run(nil, []string{"--help"}, &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, flag := range []string{"-A, --all-namespaces", "-n, --namespace", "-l, --selector", "-a, --argument", "--print-metrics-on-exit", "--kubeconfig"} {
		assert.Contains(t, stdout.String(), flag)
	}
}

// found is a program in $PATH.
func found(t testing.TB, line ...string) program {
	t.Helper()
	p := program{line: line}
	require.NoError(t, p.find())
	return p
}
