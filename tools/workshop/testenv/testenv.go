// Package testenv is what tests share.
package testenv

import (
	"cmp"
	"os"
	"time"
)

// Timeout is how long a test waits for what it waits for: TEST_TIMEOUT, or two minutes.
func Timeout() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic("reading TEST_TIMEOUT: " + err.Error())
	}
	return timeout
}
