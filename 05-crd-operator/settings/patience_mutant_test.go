//go:build nowatch

package settings

import "time"

// patienceForDrift is short in the build without the watch: nothing will come.
const patienceForDrift = 3 * time.Second
