package observe

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

func TestWrongInputIsOneSentence(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no resource":              {[]string{}, "name the RESOURCE to observe, such as pods or deployments.apps; see observe --help"},
		"only a command":           {[]string{"--", "true"}, "name the RESOURCE to observe, such as pods or deployments.apps; see observe --help"},
		"two resources":            {[]string{"pods", "services"}, `one RESOURCE can be observed, "services" is a second; a command goes after --; see observe --help`},
		"two resources in one":     {[]string{"pods,services"}, `RESOURCE is "pods,services", it must be one type, such as pods or deployments.apps; see observe --help`},
		"an object":                {[]string{"pods/a"}, `RESOURCE is "pods/a", it must be one type, such as pods or deployments.apps; see observe --help`},
		"an unknown flag":          {[]string{"pods", "--moon"}, "unknown flag: --moon; see observe --help"},
		"a selector":               {[]string{"pods", "-l", "a=b=c"}, `the selector "a=b=c" is not valid: found '=', expected: ',' or 'end of string'; it looks like app=demo or app!=demo; see observe --help`},
		"an output":                {[]string{"pods", "-o", "yaml"}, `unknown output "yaml", it can be jsonpath or gotemplate; see observe --help`},
		"a jsonpath":               {[]string{"pods", "-a", "{.x"}, `the template "{.x" does not parse: unclosed action; correct --argument, or the language with --output`},
		"a gotemplate":             {[]string{"pods", "-o", "gotemplate", "-a", "{{.x"}, `the template "{{.x" does not parse: template: argument:1: unclosed action; correct --argument, or the language with --output`},
		"--names without --delete": {[]string{"pods", "--names", "true"}, "--names needs --delete, the program to run for each object that no longer exists; see observe --help"},
		"no command":               {[]string{"pods", "--", "no-such-command"}, `the command cannot be run: exec: "no-such-command": executable file not found in $PATH; name a program in $PATH, or the path of an executable file`},
		"no delete command":        {[]string{"pods", "-d", "no-such-command"}, `the command cannot be run: exec: "no-such-command": executable file not found in $PATH; name a program in $PATH, or the path of an executable file`},
		"no names command":         {[]string{"pods", "-d", "true", "--names", "/"}, `the command cannot be run: exec: "/": is a directory; name a program in $PATH, or the path of an executable file`},
		"a duration without unit":  {[]string{"pods", "--exit-after", "3"}, `invalid argument "3" for "--exit-after" flag: time: missing unit in duration "3"; see observe --help`},
		"a negative exit":          {[]string{"pods", "--exit-after", "-3s"}, "--exit-after is -3s, it must be 0 or more; see observe --help"},
		"a negative resync":        {[]string{"pods", "--resync-period", "-3s"}, "--resync-period is -3s, it must be 0 or more; see observe --help"},
		"no errors":                {[]string{"pods", "--maximum-errors", "0"}, "--maximum-errors is 0, it must be 1 or more, or -1 for never; see observe --help"},
		"fewer errors than never":  {[]string{"pods", "--maximum-errors", "-2"}, "--maximum-errors is -2, it must be 1 or more, or -1 for never; see observe --help"},
		"no exit code":             {[]string{"pods", "--retry-on-exit-code", "256"}, "--retry-on-exit-code is 256, exit codes are 0 to 255; see observe --help"},
		"a negative count":         {[]string{"pods", "--retry-count", "-1"}, "--retry-count is -1, it must be 0 or more; see observe --help"},
		"a name of no variable":    {[]string{"pods", "--type-env-var", "A=B"}, `--type-env-var is "A=B", the name of a variable has no = in it; see observe --help`},
		"no kubeconfig":            {[]string{"pods", "--kubeconfig", "/nowhere"}, "stat /nowhere: no such file or directory; correct --kubeconfig, --context or KUBECONFIG"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, cli.Run(t.Context(), Command(t.Context()), tc.args, &stdout, &stderr))
			assert.Equal(t, "error: "+tc.want+"\n", stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

// parseOptions returns the options of a command line.
func parseOptions(t testing.TB, args ...string) *options {
	t.Helper()
	o := &options{}
	command := o.command(t.Context())
	command.RunE = func(*cobra.Command, []string) error { return nil }
	var stderr bytes.Buffer
	require.Equal(t, 0, cli.Run(t.Context(), command, args, io.Discard, &stderr), stderr.String())
	return o
}

func TestDefaults(t *testing.T) {
	o := parseOptions(t, "pods")
	assert.Equal(t, &options{
		resource: "pods", output: "jsonpath", maximumErrors: 20, retryCount: 2, listenAddr: ":11251",
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
	for _, p := range []*program{&o.program, &o.delete, &o.names} {
		assert.NotEmpty(t, p.path)
		p.path = ""
	}
	o.arguments = nil
	want := &options{
		resource: "deployments.apps", allNamespaces: true, selector: "a=b",
		program:   program{line: []string{"echo", "-A", "--", "x"}},
		delete:    program{line: []string{"true", "--force", "a,b"}},
		names:     program{line: []string{"true", "x"}},
		templates: []string{"{.x},{.y}", "{.z}"}, output: "jsonpath", strict: true,
		typeVariable: "T", objectVariable: "O",
		once: true, exitAfter: 2 * time.Minute, resyncPeriod: time.Minute, maximumErrors: -1, retryExitCode: 75, retryCount: 5,
		quiet: true, printMetrics: true,
	}
	want.cluster.Namespace = "harbour"
	assert.Equal(t, want, o)
}

func TestHelpGoesToStdoutAndIsNoFailure(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, cli.Run(t.Context(), Command(t.Context()), []string{"--help"}, &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, flag := range []string{"-A, --all-namespaces", "-n, --namespace", "-l, --selector", "-a, --argument", "-o, --output", "--strict-templates",
		"-d, --delete", "--names", "--type-env-var", "--object-env-var", "--resync-period", "--once", "--exit-after", "--maximum-errors",
		"--retry-on-exit-code", "--retry-count", "-q, --quiet", "--listen-addr", "--print-metrics-on-exit"} {
		assert.Contains(t, stdout.String(), flag)
	}
}
