package release

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/tools/image"
)

// builds is a folder with archives that the program image has made, each with its SBOM:
// one.tar of the commit one, another.tar of the commit another, dirty.tar of no commit,
// and both.tar for two platforms.
var builds string

const (
	one     = "1111111111111111111111111111111111111111"
	another = "2222222222222222222222222222222222222222"
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	var err error
	if builds, err = os.MkdirTemp("", "a folder of builds "); err != nil {
		return 1, err
	}
	defer os.RemoveAll(builds)
	source := filepath.Join(builds, "source")
	if err := os.CopyFS(source, os.DirFS("../image/testdata")); err != nil {
		return 1, err
	}
	here := "linux/" + runtime.GOARCH
	for file, o := range map[string]image.Options{
		"one.tar":     {About: image.About{Revision: one}, Platforms: []string{here}},
		"another.tar": {About: image.About{Revision: another}, Platforms: []string{here}},
		"dirty.tar":   {About: image.About{Revision: one + "-dirty"}, Platforms: []string{here}},
		"both.tar":    {About: image.About{Revision: one}, Platforms: []string{"linux/amd64", "linux/arm64"}},
	} {
		o.Name, o.Version, o.Created = "cnat-manager", "v1.2.3", time.Unix(1700000000, 0).UTC()
		o.Folder, o.Package, o.Output = filepath.Join(source, "06-shipping"), "./cmd/manager", filepath.Join(builds, file)
		if _, err := image.Make(context.Background(), o, io.Discard); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// program runs the program, and returns its exit code and what it prints.
func program(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems strings.Builder
	code = Main(t.Context(), args, &out, &problems)
	return code, out.String(), problems.String()
}

// must runs the program, which has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := program(t, args...)
	require.Zero(t, code, stderr)
	return strings.TrimSpace(stdout)
}

// env is a registry, and a key pair.
type env struct {
	*testing.T
	server     *httptest.Server
	blobs      string   // the folder of the registry
	changed    sync.Map // what the registry serves in place of a blob, by digest
	repository name.Repository
	private    string
	public     string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{T: t, blobs: t.TempDir()}
	e.server = httptest.NewServer(e.change(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)),
		registry.WithBlobHandler(registry.NewDiskBlobHandler(e.blobs)))))
	t.Cleanup(e.server.Close)
	e.repository = e.repositoryOf("cnat-manager")
	e.private, e.public = newKeys(t)
	return e
}

// change lets a registry serve other bytes than those that it was given.
func (e *env) change(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content, ok := e.changed.Load(path.Base(r.URL.Path)); ok && r.Method == http.MethodGet {
			_, _ = w.Write(content.([]byte))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (e *env) repositoryOf(folder string) name.Repository {
	e.Helper()
	repository, err := name.NewRepository(strings.TrimPrefix(e.server.URL, "http://") + "/" + folder)
	require.NoError(e, err)
	return repository
}

func newKeys(t *testing.T) (private, public string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "keys")
	must(t, "keys", folder)
	return filepath.Join(folder, privateFile), filepath.Join(folder, publicFile)
}

func build(file string) string { return filepath.Join(builds, file) }

// release pushes and signs a build, and returns its reference by digest.
func (e *env) release(file string, repository name.Repository, private string) name.Digest {
	e.Helper()
	digest, err := name.NewDigest(must(e.T, "push", build(file), repository.Name()))
	require.NoError(e, err)
	must(e.T, "sign", build(file), repository.Name(), "--key="+private)
	return digest
}

// attached is the reference of what cosign's tag holds.
func attached(image name.Digest, suffix string) name.Tag {
	return image.Tag(strings.Replace(image.DigestStr(), ":", "-", 1) + "." + suffix)
}

// copyTo copies what a tag holds to another tag, as anybody who may push can.
func (e *env) copyTo(from, to name.Tag) {
	e.Helper()
	image, err := remote.Image(from)
	require.NoError(e, err)
	require.NoError(e, remote.Write(to, image))
}

// attach attaches something to an image without a check, as an attacker would.
func (e *env) attach(image name.Digest, a attachment, tag string) {
	e.Helper()
	r := newRepository(e.Context(), image.Context())
	subject, ok, err := r.head(image)
	require.NoError(e, err)
	require.True(e, ok)
	require.NoError(e, r.attach(subject, a, tag))
}
