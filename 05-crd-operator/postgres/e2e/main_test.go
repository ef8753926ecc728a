package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	// What is in the image: Go's test cache does not know what go build reads.
	_ "example.com/hacking-a-controller/05-crd-operator/postgres/member"
	"example.com/hacking-a-controller/05-crd-operator/postgres/operator"
)

// asOperator is the variable that makes this test program the operator. That has to be a
// process, since some tests kill it.
const asOperator = "TEST_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		cli.Main(operator.Command())
	}
	goleak.VerifyTestMain(sharing{m})
}

// interrupted is true after Ctrl-C.
var interrupted atomic.Bool

type sharing struct{ *testing.M }

// Run runs the tests, and ends their lab, after Ctrl-C as well.
func (m sharing) Run() int {
	signals, done := make(chan os.Signal, 1), make(chan int, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() { done <- m.M.Run() }()
	code := 1
	select {
	case code = <-done:
	case <-signals: // the operators have got it, too
		interrupted.Store(true)
	}
	shared.once.Do(func() {}) // a start that is under way comes to its end, and none begins any more
	if shared.lab == nil {
		return code
	}
	if err := shared.lab.end(); err != nil {
		fmt.Fprintln(os.Stderr, "ending the lab:", err)
		return cmp.Or(code, 1)
	}
	return code
}
