package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const hello = `package main

func main() { println("hello") }
`

// Packages are found as in `go -C 06-shipping/controlplane run ./image`.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// build runs the command, which must succeed, and returns the image that it has written.
func build(t *testing.T, args ...string) v1.Image {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "a new folder", "an image.tar")
	var out, errOut bytes.Buffer
	require.Zero(t, run(append(args, "hello:v1", archive), &out, &errOut), &errOut)
	for _, want := range []string{"compiling took ", "linking took ", "packing took ", "lab/bin/lab load " + archive} {
		assert.Contains(t, out.String(), want)
	}
	left, err := os.ReadDir(filepath.Dir(archive))
	require.NoError(t, err)
	assert.Len(t, left, 1, "only the archive is left")
	folder := t.TempDir()
	require.NoError(t, exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", folder).Run())
	index, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	images, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
	require.NoError(t, err)
	require.Len(t, images, 1)
	return images[0]
}

// output runs the image's program on this machine.
func output(t *testing.T, built v1.Image) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hello")
	layers := mutate.Extract(built)
	defer layers.Close()
	var names []string
	for archive := tar.NewReader(layers); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		names = append(names, header.Name)
		if header.Name == "usr/local/bin/hello" {
			content, err := io.ReadAll(archive)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(program, content, header.FileInfo().Mode()))
		}
	}
	assert.Equal(t, []string{"etc/passwd", "tmp", "usr/local/bin/hello"}, names)
	out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	require.NoError(t, err)
	return string(out)
}

func TestImageOfAProgram(t *testing.T) {
	file := writeFile(t, "main.go", hello)
	first := build(t, file)
	config, err := first.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, []string{"/usr/local/bin/hello"}, config.Config.Entrypoint)
	assert.Empty(t, config.Config.User)
	assert.Equal(t, runtime.GOARCH, config.Architecture)
	assert.Equal(t, "hello\n", output(t, first))
	assert.Equal(t, digest(t, first), digest(t, build(t, file)), "the same program makes the same image")
}

func digest(t *testing.T, built v1.Image) string {
	t.Helper()
	hash, err := built.Digest()
	require.NoError(t, err)
	return hash.String()
}

// A copy of all of Kubernetes would take minutes to compile. This one has a package.
func TestProgramIsBuiltFromACopyOfKubernetes(t *testing.T) {
	kubernetes := filepath.Join(t.TempDir(), "a copy of k")
	for name, content := range map[string]string{
		"go.mod":           "module k8s.io/kubernetes\n\ngo 1.26.0\n",
		"cmd/ours/main.go": strings.Replace(hello, "hello", "changed", 1),
	} {
		file := filepath.Join(kubernetes, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	assert.Equal(t, "changed\n", output(t, build(t, "--kubernetes", kubernetes, "k8s.io/kubernetes/cmd/ours")))
}

func TestWrongInput(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "image.tar")
	broken := writeFile(t, "main.go", "package main\n\nfunc main() { nothing() }\n")
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an argument is missing":   {[]string{"./scheduler", "hello:v1"}, "there are 2 arguments, not 3: " + usage},
		"an unknown flag":          {[]string{"--kubernetis", "f", "./scheduler", "hello:v1", archive}, "unknown flag: --kubernetis"},
		"no tag":                   {[]string{"./scheduler", "hello", archive}, `"hello" names no image; NAME:TAG is, for example, kube-scheduler:v1`},
		"an impossible name":       {[]string{"./scheduler", "Hello World:v1", archive}, `"Hello World:v1" names no image`},
		"a folder for the archive": {[]string{"./scheduler", "hello:v1", dir}, dir + " is a folder; name the archive in it"},
		"a file for its folder":    {[]string{"./scheduler", "hello:v1", filepath.Join(broken, "image.tar")}, "not a directory; choose another for it"},
		"no package":               {[]string{"./nowhere", "hello:v1", archive}, "compiling ./nowhere: stat "},
		"not a program":            {[]string{"./scheduler/spreadstarts", "hello:v1", archive}, "it is no program, but package spreadstarts"},
		"no copy of Kubernetes":    {[]string{"--kubernetes", dir, "./scheduler", "hello:v1", archive}, "using " + dir + " as Kubernetes: it is no copy of the module k8s.io/kubernetes"},
		"a program with an error":  {[]string{broken, "hello:v1", archive}, "undefined: nothing\ncompiling " + broken + ": the compiler does not accept it, see above"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			assert.Equal(t, 1, run(tc.args, &out, &errOut))
			assert.Contains(t, errOut.String(), tc.want)
			assert.NoFileExists(t, archive)
		})
	}
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}
