package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// own is the platform that the tests run on.
const own = runtime.GOOS + "/" + runtime.GOARCH

// smallLab goes to a folder that has all that the lab's module has, but for Kubernetes: its program says
// that it is small.
func smallLab(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for path, content := range map[string]string{
		"go.mod":            "module example.com/small\n\ngo 1.26\n\nrequire k8s.io/kubernetes v1.37.2\n\nreplace k8s.io/kubernetes => ./testdata\n",
		"go.sum":            "",
		"build/compile.go":  "package main\n",
		"testdata/go.mod":   "module k8s.io/kubernetes\n",
		"cmd/lab/main.go":   "package main\n\nfunc main() { println(\"small\") }\n",
		"internal/a/a.go":   "package a\n",
		"internal/a/doc.md": "a\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	for _, name := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS"} {
		t.Setenv(name, os.Getenv(name))
	}
}

// archived makes the archive of the small lab, moves it to where a server has it, and returns the folder.
func archived(t *testing.T) string {
	t.Helper()
	screen, _, _ := recorder(false)
	require.NoError(t, archives(t.Context(), screen, time.Now(), nil))
	folder := t.TempDir()
	name := release{platform: own}.file()
	require.NoError(t, os.Rename("bin/"+name, filepath.Join(folder, name)))
	return folder
}

func TestTheReleasedLabIsFetchedAndRuns(t *testing.T) {
	smallLab(t)
	server := httptest.NewServer(http.FileServer(http.Dir(archived(t))))
	t.Cleanup(server.Close)
	t.Setenv("LAB_ARCHIVES", server.URL+"/")
	screen, out, _ := recorder(false)

	require.NoError(t, do(t.Context(), screen, time.Now(), nil), out)

	assert.Contains(t, out.String(), "fetched lab/bin/lab: ")
	said, err := exec.CommandContext(t.Context(), "bin/etcd").CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "small\n", string(said))
	assert.NoFileExists(t, "bin/"+release{platform: own}.file())
}

func TestTheSameSourcesMakeTheSameArchive(t *testing.T) {
	var digests []string
	for range 2 {
		smallLab(t)
		archived(t)
		wanted, err := releasedFor(own)
		require.NoError(t, err)
		digests = append(digests, wanted.archive)
	}

	assert.Equal(t, digests[0], digests[1])
}

func TestWhatIsNotTheReleasedLabIsNotTaken(t *testing.T) {
	name := release{platform: own}.file()
	for why, tc := range map[string]struct {
		spoil func(t *testing.T, served string)
		want  string
	}{
		"no archive for this system": {func(t *testing.T, _ string) { require.NoError(t, os.Remove(releasedFile)) }, "there is no released lab for " + own},
		"a file that can't be read":  {func(t *testing.T, _ string) { write(t, releasedFile, "linux/amd64 abc\n") }, `"linux/amd64 abc" isn't a platform and two digests`},
		"sources that were changed":  {func(t *testing.T, _ string) { write(t, "internal/a/a.go", "package a // new\n") }, "was built from other sources"},
		"another program":            {func(t *testing.T, served string) { write(t, served+"/"+name, "another") }, "lab/released.txt wants"},
		"no such file there":         {func(t *testing.T, served string) { require.NoError(t, os.Remove(served+"/"+name)) }, "404 Not Found"},
	} {
		t.Run(why, func(t *testing.T) {
			smallLab(t)
			served := archived(t)
			tc.spoil(t, served)
			server := httptest.NewServer(http.FileServer(http.Dir(served)))
			t.Cleanup(server.Close)
			t.Setenv("LAB_ARCHIVES", server.URL)
			screen, out, _ := recorder(false)

			require.NoError(t, do(t.Context(), screen, time.Now(), nil), out)

			assert.Contains(t, out.String(), tc.want)
			assert.Contains(t, out.String(), "building it from source instead")
			assert.Contains(t, out.String(), "built lab/bin/lab: Kubernetes v1.37.2")
			assert.NoFileExists(t, "bin/"+name)
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func TestTestsAndPagesMakeNoOtherLab(t *testing.T) {
	smallLab(t)
	before, err := digestOfSources()
	require.NoError(t, err)
	write(t, "internal/a/doc.md", "b\n")
	write(t, "internal/a/a_test.go", "package a\n")

	after, err := digestOfSources()

	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// line is a network that does what the tests say, in the time of a synctest bubble. It notes what was asked for.
type line struct {
	asked []string
	serve func(attempt int, request *http.Request) (*http.Response, error)
}

func (l *line) RoundTrip(request *http.Request) (*http.Response, error) {
	l.asked = append(l.asked, request.Header.Get("Range"))
	return l.serve(len(l.asked), request)
}

// answer is a response with a status and a body.
func answer(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Body: io.NopCloser(body), ContentLength: -1}
}

// until gives bytes, and then an error.
func until(bytes string, err error) io.Reader {
	return io.MultiReader(strings.NewReader(bytes), failing{func() error { return err }})
}

// failing is a reader that fails as a function says.
type failing struct{ because func() error }

func (f failing) Read([]byte) (int, error) { return 0, f.because() }

func TestADownloadGoesOnWhereItStopped(t *testing.T) {
	broken := errors.New("the line is dead")
	silent := func(request *http.Request) io.Reader {
		return failing{func() error { <-request.Context().Done(); return request.Context().Err() }}
	}
	for what, tc := range map[string]struct {
		there string // what an earlier run left
		serve func(attempt int, request *http.Request) (*http.Response, error)
		asked []string
		want  string // of the error
	}{
		"all at once": {"", func(int, *http.Request) (*http.Response, error) {
			return answer(200, strings.NewReader("whole")), nil
		}, []string{""}, ""},
		"after a line that broke": {"", func(attempt int, _ *http.Request) (*http.Response, error) {
			if attempt == 1 {
				return answer(200, until("wh", broken)), nil
			}
			return answer(206, strings.NewReader("ole")), nil
		}, []string{"", "bytes=2-"}, ""},
		"after a line that brought nothing more": {"", func(attempt int, request *http.Request) (*http.Response, error) {
			if attempt == 1 {
				return answer(200, io.MultiReader(strings.NewReader("who"), silent(request))), nil
			}
			return answer(206, strings.NewReader("le")), nil
		}, []string{"", "bytes=3-"}, ""},
		"slowly, but never silent for too long": {"", func(_ int, request *http.Request) (*http.Response, error) {
			pause := failing{func() error {
				select {
				case <-request.Context().Done():
					return request.Context().Err()
				case <-time.After(40 * time.Second):
					return io.EOF
				}
			}}
			return answer(200, io.MultiReader(strings.NewReader("w"), pause, strings.NewReader("ho"), pause, strings.NewReader("le"))), nil
		}, []string{""}, ""},
		"after a run that was stopped": {"whol", func(int, *http.Request) (*http.Response, error) {
			return answer(206, strings.NewReader("e")), nil
		}, []string{"bytes=4-"}, ""},
		"when all of it was there": {"whole", func(int, *http.Request) (*http.Response, error) {
			return answer(416, strings.NewReader("")), nil
		}, []string{"bytes=5-"}, ""},
		"from a server that knows no ranges": {"who", func(int, *http.Request) (*http.Response, error) {
			return answer(200, strings.NewReader("whole")), nil
		}, []string{"bytes=3-"}, ""},
		"never, where it isn't": {"", func(int, *http.Request) (*http.Response, error) {
			return answer(404, strings.NewReader("")), nil
		}, []string{""}, "404 Not Found"},
		"never, where nobody answers": {"", func(int, *http.Request) (*http.Response, error) {
			return nil, broken
		}, []string{"", "", ""}, "after 3 attempts: Get \"http://lab.example\": the line is dead"},
		"never, from a server that fails": {"", func(int, *http.Request) (*http.Response, error) {
			return answer(503, strings.NewReader("")), nil
		}, []string{"", "", ""}, "after 3 attempts: 503 Service Unavailable"},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lab.gz")
			write(t, path, tc.there)
			synctest.Test(t, func(t *testing.T) {
				network := &line{serve: tc.serve}
				f := fetching{client: &http.Client{Transport: network}, attempts: 3, pause: time.Minute, stall: time.Minute}
				shown := int64(-1)

				err := f.download(t.Context(), "http://lab.example", path, func(have, _ int64) { shown = have })

				assert.Equal(t, tc.asked, network.asked)
				if tc.want != "" {
					assert.EqualError(t, err, tc.want)
					return
				}
				require.NoError(t, err)
				got, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Equal(t, "whole", string(got))
				if tc.there != "whole" {
					assert.EqualValues(t, len("whole"), shown)
				}
			})
		})
	}
}

func TestADownloadEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lab.gz")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		network := &line{serve: func(int, *http.Request) (*http.Response, error) { return nil, errors.New("the line is dead") }}
		f := fetching{client: &http.Client{Transport: network}, attempts: 3, pause: time.Minute}

		err := f.download(ctx, "http://lab.example", path, func(int64, int64) {})

		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestUnknownArguments(t *testing.T) {
	smallLab(t)
	screen, _, _ := recorder(false)

	require.ErrorContains(t, do(t.Context(), screen, time.Now(), []string{"archives"}), `"archives" isn't known`)
	require.ErrorContains(t, do(t.Context(), screen, time.Now(), []string{"archive", "linux"}), `"linux" isn't written as linux/amd64 is`)
}
