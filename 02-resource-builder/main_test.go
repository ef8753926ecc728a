package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"example.com/hacking-a-controller/02-resource-builder/lesson/fakeserver"
	"example.com/hacking-a-controller/testcluster"
)

// runMain makes the test binary be resource-builder: signals and the standard input take a process.
const runMain = "RESOURCE_BUILDER_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
		return
	}
	testcluster.Main(m)
}

// resourceBuilder runs the program in this process, and returns its lines and those of its errors.
func resourceBuilder(t *testing.T, args ...string) (stdout, stderr []string) {
	t.Helper()
	var out bytes.Buffer
	command := newCommand(genericclioptions.NewConfigFlags(true))
	command.SetArgs(args)
	command.SetOut(&out)
	for _, err := range causes(command.ExecuteContext(t.Context())) {
		stderr = append(stderr, err.Error())
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' }), stderr
}

// The server has two objects of each type, a and b, and sends a page of one at a time.
func TestWhatIsRequested(t *testing.T) {
	file := writeFile(t, "three.yaml", manifest("v1", "Namespace", "b")+manifest("v1", "Namespace", "moon")+manifest("v1", "Pod", "a"))
	away := writeFile(t, "away.yaml", manifest("v1", "Pod", "a")+"  namespace: away\n")
	tests := map[string]struct {
		args     string
		want     string // the names of the objects
		requests string // for them
		err      string
	}{
		"all of a type":                   {"namespaces", "a b", "namespaces?limit=1 namespaces?continue=more&limit=1", ""},
		"by a short name":                 {"ns", "a b", "namespaces?limit=1 namespaces?continue=more&limit=1", ""},
		"in the namespace of the context": {"pods", "a b", "namespaces/default/pods?limit=1 namespaces/default/pods?continue=more&limit=1", ""},
		"in another namespace":            {"pods -n=demo", "a b", "namespaces/demo/pods?limit=1 namespaces/demo/pods?continue=more&limit=1", ""},
		"in all namespaces":               {"pods -A", "a b", "pods?limit=1 pods?continue=more&limit=1", ""},
		"with a label":                    {"ns -l app=web", "a b", "namespaces?labelSelector=app%3Dweb&limit=1 namespaces?continue=more&labelSelector=app%3Dweb&limit=1", ""},
		"with a field":                    {"ns --field-selector metadata.name!=c", "a b", "namespaces?fieldSelector=metadata.name%21%3Dc&limit=1 namespaces?continue=more&fieldSelector=metadata.name%21%3Dc&limit=1", ""},
		"names, one of which is missing":  {"ns moon b", "b", "namespaces/moon namespaces/b", "no moon"},
		"what a file names":               {"-f " + file, "b a", "namespaces/b namespaces/moon namespaces/default/pods/a", "no moon"},
		"in the namespace of the file":    {"-f " + away, "a", "namespaces/away/pods/a", ""},
		"in the namespace of the flag":    {"-f " + away + " -n=demo", "", "namespaces/away/pods/a", `the namespace from the provided object "away" does not match the namespace "demo". You must pass '--namespace=away' to perform this operation.`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var requests []string
			server := fakeserver.Start(t, func(w http.ResponseWriter, r *http.Request) {
				query := r.URL.Query()
				query.Del("timeout")
				r.URL.RawQuery = query.Encode()
				requests = append(requests, strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/"))
				switch name := path.Base(r.URL.Path); {
				case query.Get("continue") == "more":
					fakeserver.Write(w, http.StatusOK, fakeserver.List("", fakeserver.Object("v1", "Pod", "b")))
				case query.Has("limit"):
					fakeserver.Write(w, http.StatusOK, fakeserver.List("more", fakeserver.Object("v1", "Pod", "a")))
				case name == "moon":
					fakeserver.Refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no moon")
				default:
					fakeserver.Write(w, http.StatusOK, fakeserver.Object("v1", "Pod", name))
				}
			})
			stdout, stderr := resourceBuilder(t, append(strings.Fields(tc.args), "--unstructured", "--chunk-size=1", "--server="+server)...)
			var names []string
			for _, line := range stdout {
				names = append(names, strings.Fields(line)[1])
			}
			assert.Equal(t, tc.want, strings.Join(names, " "))
			assert.Equal(t, tc.requests, strings.Join(requests, " "))
			assert.Equal(t, tc.err, strings.Join(stderr, " "))
		})
	}
}

func TestPagesBeforeAnErrorArePrinted(t *testing.T) {
	server := fakeserver.Start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			fakeserver.Write(w, http.StatusOK, fakeserver.List("next", fakeserver.Object("v1", "Namespace", "a")))
			return
		}
		fakeserver.Refuse(w, http.StatusGone, metav1.StatusReasonExpired, "too old")
	})
	stdout, stderr := resourceBuilder(t, "namespaces", "--server="+server, "--unstructured")
	assert.Equal(t, []string{"Namespace a has neither phase nor conditions"}, stdout)
	assert.Equal(t, []string{"too old"}, stderr)
}

func TestAnObjectWithoutANameIsNotThatOfTheServer(t *testing.T) {
	server := fakeserver.Start(t, http.NotFound)
	file := writeFile(t, "fleet.yaml", manifest("v1", "Namespace", ""))
	stdout, stderr := resourceBuilder(t, "-f", file, "--server="+server, "--unstructured")
	assert.Empty(t, stdout)
	assert.Equal(t, []string{"an object in " + file + " has no metadata.name"}, stderr)
}

func TestNothingIsReportedTwice(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	visit := utilerrors.NewAggregate([]error{a, utilerrors.NewAggregate([]error{b, errors.New("a")}), b})
	assert.Equal(t, []error{a, b}, causes(visit))
	assert.Equal(t, []error{a}, causes(a))
	assert.Empty(t, causes(nil))
}

// Without checkServer, the Builder waits several times. client-go also logs the error, past the program.
func TestASilentServerIsOneErrorAfterOneRequest(t *testing.T) {
	var requests atomic.Int32
	server := fakeserver.Start(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		fakeserver.Hang(w, r)
	})
	program, stderr := command(t, "namespaces,pods", "--server="+server+"/silent", "--request-timeout=100ms")
	require.Error(t, program.Run())
	assert.Regexp(t, `^error: .*/silent/api.*\n$`, stderr.String())
	assert.EqualValues(t, 1, requests.Load())
}

// The first run keeps on disk which types there are. -v=6 shows the requests.
func TestDiscoveryIsCached(t *testing.T) {
	server := fakeserver.Start(t, func(w http.ResponseWriter, _ *http.Request) {
		fakeserver.Write(w, http.StatusOK, fakeserver.List("", fakeserver.Object("v1", "Namespace", "a")))
	})
	urls := func() (urls []string) {
		program, stderr := command(t, "namespaces", "--server="+server, "-v=6")
		require.NoError(t, program.Run(), stderr)
		for _, match := range regexp.MustCompile(`url="`+server+`([^"]*)`).FindAllStringSubmatch(stderr.String(), -1) {
			urls = append(urls, match[1])
		}
		return urls
	}
	const list = "/api/v1/namespaces?limit=500&timeout=10s"
	assert.ElementsMatch(t, []string{"/api?timeout=10s", "/apis?timeout=10s", "/api/v1?timeout=10s", "/apis/harbour.example.com/v1?timeout=10s", list}, urls(), "first run")
	assert.Equal(t, []string{list}, urls(), "second run")
}

func TestCtrlCEndsIt(t *testing.T) {
	// A document is read from the server when it is complete. Of the next one comes a beginning that is longer
	// than what the decoder reads at once.
	stdin := manifest("v1", "Namespace", "a") + "---\n" + strings.Repeat("# and then nothing\n", 500)
	tests := map[string]struct {
		args   []string
		answer http.HandlerFunc
	}{
		"while it waits for the server":         {[]string{"namespaces"}, fakeserver.Hang},
		"while it waits for its standard input": {[]string{"-f", "-"}, http.NotFound},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requested := make(chan string, 10)
			server := fakeserver.Start(t, func(w http.ResponseWriter, r *http.Request) {
				requested <- r.URL.Path
				tc.answer(w, r)
			})
			program, stderr := command(t, append(tc.args, "--server="+server, "--request-timeout=1h")...)
			input, err := program.StdinPipe() // stays open
			require.NoError(t, err)
			require.NoError(t, program.Start())
			_, _ = io.WriteString(input, stdin) // not all of them read it
			ended := make(chan error, 1)
			go func() { ended <- program.Wait() }()
			select {
			case <-requested:
			case err := <-ended:
				require.Fail(t, "the program made no request", "%v: %s", err, stderr)
			}
			require.NoError(t, program.Process.Signal(syscall.SIGINT))
			require.Error(t, <-ended)
			assert.Equal(t, 1, program.ProcessState.ExitCode())
		})
	}
}

// command prepares resource-builder as a process, which is killed should it hang.
func command(t *testing.T, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	t.Cleanup(cancel)
	program := exec.CommandContext(ctx, os.Args[0], args...)
	program.Env = append(os.Environ(), runMain+"=1")
	stderr := new(strings.Builder)
	program.Stderr = stderr
	return program, stderr
}

func manifest(apiVersion, kind, name string) string {
	return fmt.Sprintf("---\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", apiVersion, kind, name)
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}
