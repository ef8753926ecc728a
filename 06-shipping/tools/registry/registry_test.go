package registry

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// lines passes each line that a program prints to a test.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// start runs the program until the test ends, and returns the address that it prints.
func start(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, code := make(lines, 1), make(chan int, 1)
	var stderr strings.Builder
	go func() {
		code <- cli.Run(ctx, Command(), append([]string{"--address=127.0.0.1:0"}, args...), stdout, &stderr)
	}()
	t.Cleanup(func() {
		cancel()
		assert.Zero(t, <-code, stderr.String())
	})
	select {
	case line := <-stdout:
		match := regexp.MustCompile(`^the registry listens on (127\.0\.0\.1:\d+)\n$`).FindStringSubmatch(line)
		require.NotNil(t, match, line)
		return match[1]
	case got := <-code:
		code <- got
		require.FailNow(t, "it does not run", stderr.String())
	}
	return ""
}

func TestAnImageIsKeptWithWhatRefersToIt(t *testing.T) {
	blobs := filepath.Join(t.TempDir(), "a folder", "blobs")
	for sentence, args := range map[string][]string{"in memory": nil, "in a folder": {"--blobs=" + blobs}} {
		t.Run(sentence, func(t *testing.T) {
			repository, err := name.NewRepository(start(t, args...) + "/cnat")
			require.NoError(t, err)
			image, err := random.Image(100, 1)
			require.NoError(t, err)
			require.NoError(t, remote.Write(repository.Tag("1.0.0"), image))
			pushed, err := remote.Head(repository.Tag("1.0.0"))
			require.NoError(t, err)
			referrer := mutate.Subject(empty.Image, *pushed).(v1.Image)
			require.NoError(t, remote.Write(repository.Tag("sbom"), referrer))

			index, err := remote.Referrers(repository.Digest(pushed.Digest.String()))
			require.NoError(t, err)
			manifest, err := index.IndexManifest()
			require.NoError(t, err)
			require.Len(t, manifest.Manifests, 1)
			tags, err := remote.List(repository)
			require.NoError(t, err)
			assert.ElementsMatch(t, []string{"1.0.0", "sbom"}, tags, "the registry itself knows referrers, and needs no tag for them")
			if args != nil {
				config, err := image.ConfigName()
				require.NoError(t, err)
				assert.FileExists(t, filepath.Join(blobs, "sha256", config.Hex))
			}
		})
	}
}

func TestARegistryThatCannotRun(t *testing.T) {
	taken := start(t)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for sentence, tc := range map[string]struct{ args, want string }{
		"every address":            {"--address=0.0.0.0:0", `--address "0.0.0.0:0" can be reached from other machines, and this registry has no users; choose one such as 127.0.0.1:5050`},
		"every address, unwritten": {"--address=:5000", `--address ":5000" can be reached from other machines, and this registry has no users; choose one such as 127.0.0.1:5050`},
		"a name":                   {"--address=example.com:5000", `--address "example.com:5000" can be reached from other machines, and this registry has no users; choose one such as 127.0.0.1:5050`},
		"no port":                  {"--address=127.0.0.1", `--address "127.0.0.1" is no address; write one such as 127.0.0.1:5050`},
		"a port that is taken":     {"--address=" + taken, "listen tcp " + taken + ": bind: address already in use; choose another address with --address"},
		"a folder that is a file":  {"--blobs=" + file, "making the folder of the blobs: mkdir " + file + ": not a directory; choose another with --blobs"},
		"an unknown flag":          {"--moon", "unknown flag: --moon; see registry --help"},
		"an argument":              {"moon", `unexpected argument "moon"; see registry --help`},
	} {
		t.Run(sentence, func(t *testing.T) {
			// luck: it ends one that runs, which is the failure
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // if it runs
			defer cancel()
			var stdout, stderr strings.Builder
			assert.Equal(t, 1, cli.Run(ctx, Command(), []string{"--address=127.0.0.1:0", tc.args}, &stdout, &stderr))
			assert.Equal(t, "error: "+tc.want+"\n", stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestItEndsAlthoughAClientIsConnected(t *testing.T) {
	address := start(t) // and it ends with the test
	response, err := http.Get("http://" + address + "/v2/")
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
}

func TestLoopback(t *testing.T) {
	for _, address := range []string{"127.0.0.1:5050", "127.0.0.2:0", "[::1]:5000", "localhost:5000"} {
		require.NoError(t, checkLoopback(address), address)
	}
}

func TestAPageInABrowserIsRefused(t *testing.T) {
	address := start(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	for sentence, tc := range map[string]struct {
		host, site string
		want       int
	}{
		"helm and curl":                       {host: address, want: http.StatusCreated},
		"by the name of loopback":             {host: "localhost:" + port, want: http.StatusCreated},
		"over IPv6":                           {host: "[::1]:" + port, want: http.StatusCreated},
		"a name that was made to lead here":   {host: "evil.example:" + port, site: "same-origin", want: http.StatusMisdirectedRequest},
		"a name that begins like an address":  {host: "127.0.0.1.evil.example:" + port, want: http.StatusMisdirectedRequest},
		"a name that begins like a name":      {host: "localhost.evil.example:" + port, want: http.StatusMisdirectedRequest},
		"a machine of the network":            {host: "192.0.2.1:" + port, want: http.StatusMisdirectedRequest},
		"a page that asks for loopback":       {host: address, site: "cross-site", want: http.StatusForbidden},
		"a page of another port of localhost": {host: "localhost:" + port, site: "same-site", want: http.StatusForbidden},
	} {
		t.Run(sentence, func(t *testing.T) {
			manifest := strings.NewReader(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json"}`)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+address+"/v2/charts/cnat/manifests/0.6.1", manifest)
			require.NoError(t, err)
			request.Header.Set("Content-Type", string(types.OCIManifestSchema1))
			request.Host = tc.host
			if tc.site != "" {
				request.Header.Set("Sec-Fetch-Site", tc.site)
			}
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			defer response.Body.Close()
			assert.Equal(t, tc.want, response.StatusCode)
		})
	}
}
