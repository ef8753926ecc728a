package gotest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/testenv"
)

// newModule makes a module of files, such as p/p_test.go.
func newModule(t *testing.T, files map[string]string) Module {
	t.Helper()
	m := Module{Dir: t.TempDir(), Assets: filepath.Join(t.TempDir(), "no lab")}
	files["go.mod"] = "module example.com/m\n\ngo 1.26.0\n"
	for name, content := range files {
		path := filepath.Join(m.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return m
}

const header = "package p\n\nimport \"testing\"\n\n"

func TestARunIsReported(t *testing.T) {
	m := newModule(t, map[string]string{
		"root_test.go": strings.Replace(header, "package p", "package root", 1) + "func TestRoot(*testing.T) {}\n",
		"p/p_test.go":  header + "func TestBad(t *testing.T) { t.Error(\"boo\") }\nfunc TestPanics(*testing.T) { panic(\"no\") }\n",
		"q/q_test.go":  header + "func TestIt(*testing.T) { x }\n",
		"r/r_test.go":  strings.Replace(header, `"testing"`, "(\n\t\"os\"\n\t\"testing\"\n)", 1) + "func TestExits(*testing.T) { os.Exit(1) }\n",
	})
	report, err := m.Test(t.Context(), "./...")
	require.NoError(t, err)
	assert.Equal(t, Passed, report.Package(".").Verdict)
	assert.Equal(t, "panic: no", report.Package("./p").Panic())
	assert.Contains(t, report.Package("./p").Output("TestBad"), "p_test.go:5: boo")
	assert.Contains(t, report.Package("./q").Build, "undefined: x")
	assert.Equal(t, []string{"TestExits"}, names(report.Package("./r").Failures()))

	require.NoError(t, m.Vet(t.Context(), "./p"))
	require.ErrorContains(t, m.Vet(t.Context(), "./q"), "undefined: x")
}

func TestARunThatCannotBeginIsAnError(t *testing.T) {
	m := newModule(t, map[string]string{"p/p_test.go": header})
	_, err := m.Test(t.Context(), "-timeout=soon", "./p")
	require.ErrorContains(t, err, "invalid value")
	_, err = Module{Dir: filepath.Join(m.Dir, "none")}.Test(t.Context())
	require.Error(t, err)
	t.Setenv("PATH", t.TempDir())
	_, err = m.Test(t.Context(), "./p")
	require.ErrorContains(t, err, "go is not installed, or not in PATH")
}

// The test starts a process in a group of its own, as envtest does, which holds the
// standard output, and hangs.
func TestWhatHangsIsEndedWithAllThatItStarted(t *testing.T) {
	m := newModule(t, map[string]string{"p/p_test.go": `package p

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

func TestHangs(t *testing.T) {
	child := exec.Command("sleep", "1000")
	child.Stdout = os.Stdout
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("pid", []byte(strconv.Itoa(child.Process.Pid)), 0o644)
	select {}
}
`})
	tooLong := errors.New("too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	pid := filepath.Join(m.Dir, "p", "pid")
	// What a test prints is read later than it is printed. Slow is called every ten seconds,
	// and names a test whose begin was read.
	m.Slow = func(_ time.Duration, doing string) {
		if content, err := os.ReadFile(pid); doing == "TestHangs runs" && err == nil && len(content) > 0 {
			cancel(tooLong)
		}
	}
	report, err := m.Test(ctx, "./p")
	require.ErrorIs(t, err, tooLong)
	assert.Equal(t, Unfinished, report.Package("./p").Test("TestHangs").Verdict)

	if _, err := os.Stat("/proc/self/environ"); err == nil { // nothing is looked for without /proc
		testenv.RequireGone(t, pid)
	}
}

func TestATestThatIsToFailWaitsShortly(t *testing.T) {
	timeouts := func(m Module) (found []string) {
		command, end := m.command(t.Context(), "go", "version")
		defer end()
		for _, variable := range command.Environ() {
			if strings.HasPrefix(variable, "TEST_TIMEOUT=") {
				found = append(found, variable)
			}
		}
		return found
	}
	t.Setenv("TEST_TIMEOUT", "")
	assert.Equal(t, []string{"TEST_TIMEOUT=30s"}, timeouts(Module{Wait: 30 * time.Second}))
	assert.Equal(t, []string{"TEST_TIMEOUT="}, timeouts(Module{}), "the tests' own")
	t.Setenv("TEST_TIMEOUT", "5m")
	assert.Equal(t, []string{"TEST_TIMEOUT=5m"}, timeouts(Module{Wait: 30 * time.Second}))
}

func TestTheTestsFindTheAPIServer(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "")
	dir := t.TempDir()
	m := Module{Assets: dir}
	assert.Contains(t, m.MissingAssets(), "make lab")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kube-apiserver"), nil, 0o755))
	assert.Empty(t, m.MissingAssets())
	command, end := m.command(t.Context(), "go", "version")
	defer end()
	assert.Contains(t, command.Env, "KUBEBUILDER_ASSETS="+dir)
	assert.Contains(t, command.Env, "GOWORK=off")

	t.Setenv("KUBEBUILDER_ASSETS", "/elsewhere")
	assert.Empty(t, Module{}.MissingAssets())
	command, end = m.command(t.Context(), "go", "version")
	defer end()
	assert.NotContains(t, command.Env, "KUBEBUILDER_ASSETS="+dir)
}

func TestALongRunSaysWhatItDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		beat := beginHeartbeat(10*time.Second, func(after time.Duration, doing string) {
			said = append(said, after.String()+" "+doing)
		})
		time.Sleep(15 * time.Second) //nolint:forbidigo // the bubble's time
		beat.doing("TestIt runs")
		time.Sleep(10 * time.Second) //nolint:forbidigo // the bubble's time
		beat.end()
		assert.Equal(t, []string{"10s compiling", "20s TestIt runs"}, said)
	})
	beginHeartbeat(time.Second, nil).end()
}
