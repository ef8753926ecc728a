// Package e2e soaks the manager for two minutes, and one that leaks.
package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/06-shipping/internal/testcluster"
	"example.com/hacking-a-controller/06-shipping/load"
	program "example.com/hacking-a-controller/06-shipping/manager"
)

// runAs makes this test program a manager: one as it is shipped, or one that leaks.
const runAs = "RUN_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(runAs) {
	case "manager":
		cli.Main(program.Command(os.Getenv, program.Run))
	case "leaking manager":
		go leak()
		cli.Main(program.Command(os.Getenv, program.Run))
	}
	os.Exit(m.Run())
}

// leaked is what is never let go.
var leaked []any

// leak leaks 50 goroutines a second, two files, and a mebibyte.
func leak() {
	for range time.Tick(500 * time.Millisecond) {
		for range 25 {
			go func() { select {} }()
		}
		file, err := os.Open(os.DevNull)
		leaked = append(leaked, file, err, bytes.Repeat([]byte("x"), 1<<19))
	}
}

// TestSoak is make soak-6 for two minutes, with the manager as it is and with one that leaks.
func TestSoak(t *testing.T) {
	testcluster.DependOnInputs()
	self, err := os.Executable()
	require.NoError(t, err)
	programs := load.Programs{Lab: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "lab"), Kwok: buildKwok(t), Manager: self, CRDs: crds(t)}
	require.FileExists(t, programs.Lab, "this test needs the lab: run `make lab`, then `make test-6`, at the root of the repository")
	for name, grown := range map[string][]string{
		"manager": nil,
		"leaking manager": {
			"live heap of the leader", "goroutines of the leader", "descriptors of the leader",
			"live heap of the standby", "goroutines of the standby", "descriptors of the standby",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs := programs
			programs.Environment = []string{runAs + "=" + name}
			var progress, table bytes.Buffer
			report, err := load.Soak(t.Context(), load.SoakOptions{
				Programs: programs, For: 2 * time.Minute, Rate: 2, Late: testcluster.TestTimeout, Profiles: t.TempDir(),
			}, &progress)
			t.Log(&progress)
			require.NotNil(t, report, err)
			report.Print(&table)
			t.Log(&table)
			assert.Equal(t, grown, report.Grown())
			assert.Zero(t, report.Missed+report.Double+report.Refused, report.Outcome)
			assert.Greater(t, report.Ats, 100)
			assert.Positive(t, report.Kills)
			assert.Positive(t, report.Cuts)
			if grown == nil {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "what grows: live heap of the leader, ")
				assert.Contains(t, progress.String(), "goroutine.pprof")
			}
		})
	}
}

// crds returns the folder, and reads it, for go test's cache.
func crds(t *testing.T) string {
	t.Helper()
	const folder = "../../config/crd"
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		_, err := os.ReadFile(file)
		require.NoError(t, err)
	}
	return folder
}

// buildKwok returns the path of the program.
func buildKwok(t *testing.T) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "-C", "../../../tools/pinned/kwok", "tool", "-n", "kwok").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(output))
}
