package e2e

import (
	"testing"
	"time"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

const pause = 50 * time.Millisecond

// operators are the two forms of the operator, each a program of its own.
var operators = []string{"clientgo", "controllerruntime"}

// TestInALab starts one lab for all. Each case runs in a namespace of its own,
// with an operator of its own that sees only that namespace.
func TestInALab(t *testing.T) {
	l := startLab(t)
	t.Run("demo.sh: the sample of a run that Ctrl-C has ended", func(t *testing.T) {
		t.Parallel()
		demoAfterCtrlC(t, l)
	})
	for _, operator := range operators {
		for name, run := range map[string]func(*env){
			"a shell runs the command, and prints YAY":     prints,
			"a command that fails is run again in its pod": failsAndDeletes,
			"a pod deleted by hand is not run again":       podDeleted,
		} {
			t.Run(operator+": "+name, func(t *testing.T) {
				t.Parallel()
				run(l.newEnv(t, operator))
			})
		}
	}
}
