// Package testenv reads what the environment says to the tests of this module.
package testenv

import (
	"cmp"
	"fmt"
	"os"
	"time"
)

// Timeout bounds each wait of a test. It is long, because a test machine may be
// busy, and costs nothing: a test goes on as soon as its condition holds.
// TEST_TIMEOUT sets another one.
func Timeout() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic(fmt.Sprintf("reading TEST_TIMEOUT: %v", err))
	}
	return timeout
}

// ReadInputs makes the result of the test that calls it depend on the programs
// that it starts. Go's test cache sees the variables that a test reads, but not
// those programs: TEST_INPUTS holds their hash. To count, it must be read while a
// test runs: what TestMain reads before m.Run is not seen.
func ReadInputs() { _, _ = os.Getenv("TEST_INPUTS"), os.Getenv("LAB_INPUTS") }
