package scenario

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// aGo is the program go that stands in for the real one: it notes what it is asked for.
const aGo = "#!/bin/sh\necho \"go $*\" GOFLAGS=$GOFLAGS GOMEMLIMIT=$GOMEMLIMIT >> \"${SETUP_TEST_LOG:?}\"\ncase $* in *setup-envtest*) echo \"${SETUP_TEST_ASSETS:?}\";; esac\n"

// A setup is a folder that stands for a node on which setup.sh is run.
type setup struct {
	t        *testing.T
	root     string
	sum      string // of the Go that is downloaded
	programs map[string]string
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	t.Setenv("KUBEBUILDER_ASSETS", "") // make test sets it, and a node knows of none
	s := &setup{t: t, root: t.TempDir()}
	clone := filepath.Join(s.root, "hacking-a-controller")
	require.NoError(t, os.CopyFS(clone, os.DirFS(newRepository(t).Root)))
	repositorytest.Write(t, filepath.Join(clone, "03-watch/go.mod"), "module watch\n\nrequire (\n\tk8s.io/api v0.37.2\n)\n")
	for _, name := range []string{"setup.sh", "env.sh", "lab.sh"} {
		text := repositorytest.Read(t, filepath.Join(katacoda(), "node", name))
		repositorytest.Write(t, filepath.Join(clone, "katacoda/node", name), strings.NewReplacer("/tmp/", s.root+"/", "/root/", s.root+"/", "/usr/local/", s.root+"/local/").Replace(text))
	}
	repositorytest.Write(t, filepath.Join(s.root, "local/bin/lab"), "an older one")
	repositorytest.Write(t, filepath.Join(s.root, "local/go/VERSION"), "an older one")
	repositorytest.Write(t, filepath.Join(s.root, "assets/etcd"), "a program")
	s.sum = fmt.Sprintf("%x", sha256.Sum256([]byte("a zip file")))
	repositorytest.Write(t, s.path("go.zip"), "a zip file")
	s.haveGo("1.26.8")
	s.programs = map[string]string{
		"uname": "echo aarch64\n",
		// The node has no go before, and then one that can be another version.
		"apt-get": `[ "$1" = update ] || cp "$SETUP_TEST_GO" "${0%/*}/go"`,
		"kubectl": "exit 0\n",
	}
	t.Setenv("SETUP_TEST_GO", s.path("packaged"))
	repositorytest.Write(t, s.path("packaged"), `#!/bin/sh
case "$GOTOOLCHAIN $*" in
"local mod download -json golang.org/toolchain@v0.0.1-go1.26.8.linux-arm64") printf '{\n\t"Zip": "%s",\n\t"Sum": ""\n}\n' '`+s.path("go.zip")+`' ;;
"go1.26.8 env GOROOT") echo '`+s.path("toolchain")+`' ;;
*) exit 1 ;;
esac
`)
	t.Setenv("SETUP_TEST_LOG", filepath.Join(s.root, "asked"))
	t.Setenv("SETUP_TEST_ASSETS", filepath.Join(s.root, "assets"))
	return s
}

// haveGo lets the go of the packages be this version.
func (s *setup) haveGo(version string) {
	repositorytest.Write(s.t, s.path("toolchain/bin/go"), aGo)
	repositorytest.Write(s.t, s.path("toolchain/VERSION"), "go"+version+"\ntime 2026\n")
}

func (s *setup) path(name string) string { return filepath.Join(s.root, name) }

func (s *setup) run() (string, error) {
	s.t.Helper()
	return sh(s.t, s.root, s.programs, s.path("hacking-a-controller/katacoda/node/setup.sh"), "03-watch", "03-watch", "1.26.8", sumAMD64, s.sum)
}

func TestGoIsInstalledAndWhatTheStepsRunIsCompiled(t *testing.T) {
	s := newSetup(t)
	repositorytest.Write(t, s.path("hacking-a-controller/03-watch/demo.sh"), "echo demo GOWORK=$GOWORK >> \"$SETUP_TEST_LOG\"\n")
	output, err := s.run()
	require.NoError(t, err, output)
	assert.Equal(t, "go1.26.8\ntime 2026\n", repositorytest.Read(t, s.path("local/go/VERSION")))
	assert.Equal(t, "go build -o /dev/null . GOFLAGS=-p=1 GOMEMLIMIT=1GiB\ndemo GOWORK=off\n", repositorytest.Read(t, s.path("asked")), "with what guards the memory of the node")
	assert.Equal(t, "installing Go 1.26.8\nwaiting for the cluster\ncompiling what the steps run\nready\n", repositorytest.Read(t, s.path("workshop.progress")))
	assert.Contains(t, repositorytest.Read(t, s.path("local/bin/lab")), "lab, on a node")

	output, err = sh(t, s.root, nil, "-c", ". ./.bashrc; go run . ; tail -n 1 asked; echo \"$KUBEBUILDER_ASSETS\"")
	require.NoError(t, err, output)
	assert.Equal(t, "go run . GOFLAGS=-p=1 GOMEMLIMIT=1GiB\n\n", output, "the reader's shell has the same guards, and knows of no API server that is not there")
}

func TestAnotherGoIsNotInstalled(t *testing.T) {
	s := newSetup(t)
	found := s.sum
	s.sum = sumARM64
	output, err := s.run()
	require.Error(t, err)
	assert.Equal(t, "==> installing Go 1.26.8\nthe Go that was downloaded is not used: its sum is "+found+", and katacoda/course.yaml wants "+sumARM64+"\n", output)
	assert.Equal(t, "an older one", repositorytest.Read(t, s.path("local/go/VERSION")))
	assert.NoFileExists(t, s.path("asked"))
}

func TestAGoThatCannotBeAnotherIsNotUsed(t *testing.T) {
	s := newSetup(t)
	s.haveGo("1.18.1")
	output, err := s.run()
	require.Error(t, err)
	assert.Equal(t, "==> installing Go 1.26.8\nthe Go of the node's packages is older than 1.21, and cannot be another version; choose another image in katacoda/course.yaml\n", output)
	assert.Equal(t, "an older one", repositorytest.Read(t, s.path("local/go/VERSION")))
}

func TestAMachineForWhichThereIsNoGo(t *testing.T) {
	s := newSetup(t)
	s.programs["uname"] = "echo riscv64\n"
	output, err := s.run()
	require.Error(t, err)
	assert.Contains(t, output, "there is no Go for riscv64 here\n")
}

func TestStepsThatTestGetAnAPIServer(t *testing.T) {
	s := newSetup(t)
	repositorytest.Write(t, s.path("hacking-a-controller/katacoda/03-watch/compile.sh"), "go test -exec=true ./...\n")
	output, err := s.run()
	require.NoError(t, err, output)
	assert.Regexp(t, `(?m)^go run sigs.k8s.io/controller-runtime/tools/setup-envtest@\S+ use 1.37.x `, repositorytest.Read(t, s.path("asked")))
	assert.Equal(t, "a program", repositorytest.Read(t, s.path("hacking-a-controller/lab/bin/etcd")))
	output, err = sh(t, s.root, nil, "-c", ". ./.bashrc; echo \"$KUBEBUILDER_ASSETS\"")
	require.NoError(t, err)
	assert.Equal(t, s.path("hacking-a-controller/lab/bin")+"\n", output)
}
