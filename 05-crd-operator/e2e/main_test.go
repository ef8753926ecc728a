package e2e

import (
	"testing"
	"time"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

const pause = 50 * time.Millisecond

// TestInALab starts one lab for all. Each case runs in a namespace of its own,
// with an operator of its own that sees only that namespace.
func TestInALab(t *testing.T) {
	l := startLab(t)
	t.Run("demo.sh: the sample of a run that Ctrl-C has ended", func(t *testing.T) {
		t.Parallel()
		demoAfterCtrlC(t, l)
	})
	for _, operator := range []string{"clientgo", "controllerruntime"} {
		for name, run := range map[string]func(*env){
			"the sample of the book prints YAY":            printsYAY,
			"a shell runs the command":                     isAShell,
			"a command that fails is run again in its pod": failsAndDeletes,
			"a namespace that goes away starts nothing":    namespaceGoes,
			"a pod deleted by hand is not run again":       podDeleted,
		} {
			t.Run(operator+": "+name, func(t *testing.T) {
				t.Parallel()
				run(l.newEnv(t, operator))
			})
		}
	}
	t.Run("settings: a workload reads the healed value", func(t *testing.T) {
		t.Parallel()
		aWorkloadReadsTheHealedValue(l.newEnv(t, "settings"))
	})
}
