package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/02-resource-builder/cli"
)

// TestUsage has no cluster: all of this is wrong before a request is made.
func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"nothing at all":                   {nil, "nothing to print: name a TYPE, a TYPE/NAME, or a file with -f"},
		"a file and a type":                {[]string{"pods", "-f", "x.yaml"}, `-f and "pods" cannot be given together`},
		"a URL, which could hang":          {[]string{"-f", "https://example.com/x.yaml"}, "-f reads files only: the Builder would wait for a URL without end; download it first"},
		"-R without -f":                    {[]string{"pods", "-R"}, "-R is for the directories that -f names"},
		"a type and a type with a name":    {[]string{"pods", "pod/web"}, "TYPE and TYPE/NAME cannot be given together"},
		"a name and a label selector":      {[]string{"pod", "web", "-l", "app=web"}, "a name and a selector cannot be given together"},
		"a name and a field selector":      {[]string{"pod/web", "--field-selector", "status.phase=Running"}, "a name and a selector cannot be given together"},
		"TYPE NAME and -A":                 {[]string{"pod", "web", "-A"}, "a name and -A cannot be given together: objects in two namespaces may have the same name"},
		"TYPE/NAME and -A":                 {[]string{"pod/web", "-A"}, "a name and -A cannot be given together: objects in two namespaces may have the same name"},
		"two types, a name and -A":         {[]string{"pod,node", "web", "-A"}, "a name and -A cannot be given together: objects in two namespaces may have the same name"},
		"labels that do not parse":         {[]string{"pods", "-l", "a=b=c"}, `the label selector "a=b=c" does not parse: found '=', expected: ',' or 'end of string'`},
		"labels that do not parse, and -f": {[]string{"-f", "x.yaml", "-l", "a=b=c"}, `the label selector "a=b=c" does not parse: found '=', expected: ',' or 'end of string'`},
		"fields that do not parse":         {[]string{"pods", "--field-selector", "spec"}, `the field selector "spec" does not parse: invalid selector: 'spec'; can't understand 'spec'`},
		"fields and -f":                    {[]string{"-f", "x.yaml", "--field-selector", "spec=a"}, "--field-selector and -f cannot be given together: it is the server that compares fields"},
		"a negative chunk size":            {[]string{"pods", "--chunk-size=-1"}, "--chunk-size is -1, it must be 0 or more"},
		"a request that may not last":      {[]string{"pods", "--request-timeout=0s"}, "--request-timeout is 0s, it must be more than 0"},
		"an unknown flag":                  {[]string{"pods", "--wide"}, "unknown flag: --wide"},
		"a flag without its value":         {[]string{"pods", "-n"}, "flag needs an argument: 'n' in -n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", "/nowhere")
			stdout, stderr, code := resourceBuilder(tc.args...)
			assert.Equal(t, 1, code)
			assert.Equal(t, "error: "+tc.want+"; see resource-builder --help\n", stderr)
			assert.Empty(t, stdout)
		})
	}
}

func TestHelpGoesToStdoutAndIsShort(t *testing.T) {
	stdout, stderr, code := resourceBuilder("--help")
	assert.Equal(t, 0, code)
	assert.Empty(t, stderr)
	for _, flag := range []string{
		"--kubeconfig file", "--context name", "-n, --namespace namespace", "-A, --all-namespaces", "-l, --selector selector",
		"--field-selector selector", "--chunk-size n", "-f, --filename file", "-R, --recursive", "--unstructured", "--request-timeout duration", "-v, --v",
	} {
		assert.Contains(t, stdout, flag)
	}
	// ConfigFlags has many more.
	assert.NotContains(t, stdout, "--token")
	assert.NotContains(t, stdout, "--cache-dir")
}

// resourceBuilder runs the program in this process.
func resourceBuilder(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = cli.Run(context.Background(), newCommand(), args, &out, &errs)
	return out.String(), errs.String(), code
}
