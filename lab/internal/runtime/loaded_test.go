package runtime

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/image/imagetest"
	"example.com/hacking-a-controller/lab/internal/shim"
)

// loadHello loads an image with the program in testdata/hello and some links, from a docker archive.
func loadHello(w *world, links ...link) v1.Image {
	w.Helper()
	files := w.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(files, "bin", "hello"), "./testdata/hello")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(w, err, "%s", out)
	for _, l := range links {
		path := filepath.Join(files, l.name)
		require.NoError(w, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(w, os.Symlink(l.target, path))
	}
	image, err := imagetest.Of(files, v1.Config{
		Entrypoint: []string{"hello"}, Cmd: []string{"by", "default"}, Env: []string{"FROM=image"}, WorkingDir: "/made/for/it", User: "1000:2000",
	})
	require.NoError(w, err)
	tag, err := name.NewTag("hello:v1")
	require.NoError(w, err)
	path := filepath.Join(w.TempDir(), "hello.tar")
	require.NoError(w, tarball.WriteToFile(path, tag, image))
	_, err = w.store.Load(w.Context(), path)
	require.NoError(w, err)
	return image
}

// link is a symbolic link in an image.
type link struct{ name, target string }

// asHello runs the image as it comes, for the user that the image names.
func asHello(c *runtimeapi.ContainerConfig) {
	c.Image.Image, c.Command = "hello:v1", nil
	c.Linux.SecurityContext.RunAsUser.Value = 1000
	c.Linux.SecurityContext.RunAsGroup = &runtimeapi.Int64Value{Value: 2000}
}

func TestLoadedImage(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	loadHello(w)
	volume := mounts(&runtimeapi.Mount{HostPath: w.volume("a", "A"), ContainerPath: "/data"})
	asRoot := func(c *runtimeapi.ContainerConfig) {
		c.Linux.SecurityContext.RunAsUser.Value = 0
		c.Linux.SecurityContext.RunAsGroup.Value = 0
	}
	readOnly := func(c *runtimeapi.ContainerConfig) { c.Linux.SecurityContext.ReadonlyRootfs = true }

	out := w.output("", asHello, volume)
	for _, want := range []string{
		"args [by default]\n", "cwd /made/for/it\n", "uid 1000 gid 2000\n", "env image /\n", "host files hidden true\n", "volume A\n",
	} {
		assert.Contains(t, out, want)
	}
	assert.Contains(t, w.output("", asHello, asRoot), "root writable true\n")
	assert.Contains(t, w.output("", asHello, asRoot, readOnly, volume), "root writable false\n")
	assert.Contains(t, w.output("", asHello, func(c *runtimeapi.ContainerConfig) { c.Args = []string{"other"} }), "args [other]\n")

	id := w.run(w.pod("exec"), "", asHello, func(c *runtimeapi.ContainerConfig) { c.Args = []string{"wait"} })
	stdout, _, err := w.ExecSync(t.Context(), id, []string{"/bin/hello", "exec"}, testTimeout)
	require.NoError(t, err)
	assert.Contains(t, string(stdout), "args [exec]\n")
	_, _, err = w.ExecSync(t.Context(), id, []string{"sh"}, testTimeout)
	require.EqualError(t, err, `exec: "sh": executable file not found in $PATH`)
}

func TestLoadedImageByDigest(t *testing.T) {
	w := newWorld(t)
	image := loadHello(w)
	digest, err := image.Digest()
	require.NoError(t, err)
	pinned := &runtimeapi.ImageSpec{Image: "127.0.0.1:5000/hello@" + digest.String()}
	images := imageService{w.store}

	status, err := images.ImageStatus(t.Context(), pinned, false)
	require.NoError(t, err)
	assert.Nil(t, status.Image, "a docker archive has no manifest, and so no digest")
	archive := filepath.Join(w.TempDir(), "hello-oci.tar")
	require.NoError(t, imagetest.WriteOCI(archive, "docker.io/library/hello:v1", image))
	_, err = w.store.Load(w.Context(), archive)
	require.NoError(t, err)
	status, err = images.ImageStatus(t.Context(), pinned, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"docker.io/library/hello@" + digest.String()}, status.Image.RepoDigests)

	id := w.run(w.pod("pinned"), "", asHello, func(c *runtimeapi.ContainerConfig) { c.Image = pinned })
	require.Zero(t, w.exited(id).ExitCode, w.log(id, "stderr"))
	container, err := w.ContainerStatus(t.Context(), id, false)
	require.NoError(t, err)
	assert.Equal(t, "docker.io/library/hello@"+digest.String(), container.Status.ImageRef)
	assert.Equal(t, status.Image.Id, container.Status.ImageId)

	_, err = images.PullImage(t.Context(), &runtimeapi.ImageSpec{Image: "hello@sha256:" + strings.Repeat("0", 64)}, nil, nil)
	require.ErrorContains(t, err, "is not in the lab: it knows busybox, pause, docker.io/library/hello@"+digest.String())
}

func TestLoadedImageWithoutIsolation(t *testing.T) {
	w := newWorld(t)
	w.isolation = noIsolation
	loadHello(w)
	out := w.output("", asHello, func(c *runtimeapi.ContainerConfig) { c.Linux = nil })
	assert.Contains(t, out, "args [by default]\n")
	assert.Regexp(t, `cwd .*/rootfs/made/for/it\n`, out)
}

func TestLinksOfAnImageLeadToNothingOfTheHost(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.dir, "home")
	letter := filepath.Join(home, "Documents", "letter")
	require.NoError(t, os.MkdirAll(filepath.Dir(letter), 0o755))
	require.NoError(t, os.WriteFile(letter, []byte("dear"), 0o600))
	loadHello(w,
		link{"x", home},
		link{"var/run", "/run"}, // as Debian has it
		link{"data", "/var/run/data"},
	)
	all := mounts(
		&runtimeapi.Mount{HostPath: w.volume("a", "A"), ContainerPath: "/data"},
		&runtimeapi.Mount{HostPath: w.volume("b", "B"), ContainerPath: "/x/Documents"},
		&runtimeapi.Mount{HostPath: w.volume("c", "C"), ContainerPath: serviceAccountDir},
	)
	for name, isolation := range map[string]isolation{"with what the kernel allows": w.isolation, "without isolation": noIsolation} {
		t.Run(name, func(t *testing.T) {
			w.isolation = isolation
			id := w.run(w.pod("links"), "", asHello, all, func(c *runtimeapi.ContainerConfig) {
				c.WorkingDir = "/x/Work"
				if isolation == noIsolation {
					c.Linux = nil
				}
			})
			require.Zero(t, w.exited(id).ExitCode, w.log(id, "stderr"))
			if isolation == noIsolation {
				root := filepath.Join(w.containers[id].dir, shim.RootDir)
				for path, want := range map[string]string{
					"/run/data": "A", home + "/Documents": "B", "/run/secrets/kubernetes.io/serviceaccount": "C",
				} {
					content, err := os.ReadFile(filepath.Join(root, path, "file"))
					require.NoError(t, err)
					assert.Equal(t, want, string(content))
				}
				assert.Contains(t, w.log(id, "stdout"), "cwd "+filepath.Join(root, home, "Work")+"\n")
			} else {
				assert.Contains(t, w.log(id, "stdout"), "volume A\n")
			}
			content, err := os.ReadFile(letter)
			require.NoError(t, err, "a file of the host is gone")
			assert.Equal(t, "dear", string(content))
			entries, err := os.ReadDir(home)
			require.NoError(t, err)
			assert.Len(t, entries, 1, "something was made among the host's files")
			assert.NoDirExists(t, "/run/data")
		})
	}
}
