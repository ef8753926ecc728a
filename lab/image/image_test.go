package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/image"
)

const hello = `package main

func main() { println("hello") }
`

// Packages are found as in `go -C lab run ./image`.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// build runs the command, which must succeed, and returns the image as the lab has it.
func build(t *testing.T, args ...string) image.Image {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "an image.tar")
	var out, errOut bytes.Buffer
	require.Zero(t, run(append(args, "hello:v1", archive), &out, &errOut), &errOut)
	for _, want := range []string{"compiling took ", "linking took ", "packing took ", "lab/bin/lab load " + archive} {
		assert.Contains(t, out.String(), want)
	}
	assert.NoFileExists(t, archive+".unfinished")
	store := image.NewStore(t.TempDir())
	_, err := store.Load(archive)
	require.NoError(t, err)
	found, err := store.Find("hello:v1")
	require.NoError(t, err)
	return found
}

// output runs the image's program outside the lab.
func output(t *testing.T, i image.Image) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "rootfs")
	require.NoError(t, i.CopyTo(root))
	assert.DirExists(t, filepath.Join(root, "tmp"))
	assert.FileExists(t, filepath.Join(root, "etc", "passwd"))
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "usr/local/bin/hello")).CombinedOutput()
	require.NoError(t, err)
	return string(out)
}

func TestImageOfAProgram(t *testing.T) {
	file := writeFile(t, "main.go", hello)
	first := build(t, file)
	assert.Equal(t, []string{"/usr/local/bin/hello"}, first.Config.Entrypoint)
	assert.Empty(t, first.Config.User)
	assert.Equal(t, "hello\n", output(t, first))
	assert.Equal(t, first.ID, build(t, file).ID, "the same program makes the same image")
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
		"no folder":                {[]string{"./scheduler", "hello:v1", filepath.Join(dir, "none", "image.tar")}, "there is no folder " + filepath.Join(dir, "none")},
		"a folder for the archive": {[]string{"./scheduler", "hello:v1", dir}, dir + " is a folder; name the archive in it"},
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
