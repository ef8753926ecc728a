package exercisetest

import (
	"cmp"
	"os"
	"time"
)

// Timeout is how long a test waits for what has to come. To wait long costs nothing when it comes.
var Timeout = timeout()

func timeout() time.Duration {
	d, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic("reading TEST_TIMEOUT: " + err.Error())
	}
	return d
}
