// Package e2e soaks a manager that leaks.
package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
	"example.com/hacking-a-controller/06-shipping/load"
	program "example.com/hacking-a-controller/06-shipping/manager"
	"example.com/hacking-a-controller/testcluster"
)

const crds = "../../config/crd"

// runAsLeak makes this test program a manager that leaks.
const runAsLeak = "RUN_AS_LEAKING_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(runAsLeak) != "" {
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

// TestASoakFindsALeak is make soak-6 for a minute and a half, with a manager that leaks. What a soak measures
// is judged in make soak-6 itself, and its judge is tested on made-up series. Here it is only whether all of
// it works together, and so nothing depends on how busy the machine is: the leak is some six times what may grow.
func TestASoakFindsALeak(t *testing.T) {
	testcluster.DependOnInputs()
	_ = os.Getenv("LAB_INPUTS")
	testprogram.ReadBySomebodyElse(t, crds)
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(runAsLeak, "1") // for the managers
	programs := load.Programs{
		Lab: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "lab"), Kwok: testprogram.Path(t, "KWOK"), Manager: self, CRDs: crds,
	}
	require.FileExists(t, programs.Lab, "this test needs the lab: run `make lab`, then `make test-heavy`, at the root of the repository")
	var progress, table bytes.Buffer
	report, err := load.Soak(t.Context(), load.SoakOptions{
		Programs: programs, For: 90 * time.Second, Rate: 2, Late: testcluster.TestTimeout, Profiles: t.TempDir(),
	}, &progress)
	t.Log(&progress)
	require.NotNil(t, report, err)
	report.Print(&table)
	t.Log(&table)
	assert.Positive(t, report.Ats)
	assert.Zero(t, report.Missed+report.Double, report.Outcome)
	assert.Positive(t, report.Kills)
	assert.Positive(t, report.Cuts)
	assert.Contains(t, report.Grown(), "goroutines of the leader")
	require.ErrorContains(t, err, "goroutines of the leader")
	assert.Contains(t, progress.String(), "goroutine.pprof")
}
