package manager

import (
	"os"
	"testing"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// runAsManager makes this test program the manager. So tests run the manager as
// what it is, a process: one can be killed, and two have two sets of metrics.
const runAsManager = "RUN_AS_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(runAsManager) != "" {
		cli.Main(Command(os.Getenv, Run))
	}
	os.Exit(m.Run())
}
