//go:build !nowatch

package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheBuildThatDoesNotWatchItsOutput builds the operator with the mistake in
// watch_output_mutant.go, and runs two of the tests above on it. Whoever has only
// the tests of the happy path would never notice; and each test of drift does.
// Most of them wait in vain, so they do it all at once.
func TestTheBuildThatDoesNotWatchItsOutput(t *testing.T) {
	passed, failed := testMutant(t, "-tags=nowatch", "-run=^(TestHappyPath|TestDrift)$")
	assert.Equal(t, stories("TestHappyPath", happyPath), passed)
	assert.Equal(t, stories("TestDrift", drift), failed)
}

// testMutant runs go test on this package, and returns which subtests passed,
// and which failed.
func testMutant(t *testing.T, args ...string) (passed, failed []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	if raceDetector() {
		args = append(args, "-race") // so that all packages but this one are built already
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "go", append(append([]string{"test", "-json", "-count=1", "-parallel=32"}, args...), ".")...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil { // 1 is the exit code when a test has failed
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, stderr.String())
	}

	events := json.NewDecoder(&stdout)
	for {
		var event struct{ Action, Test, Output string }
		err := events.Decode(&event)
		if errors.Is(err, io.EOF) {
			slices.Sort(passed)
			slices.Sort(failed)
			return passed, failed
		}
		require.NoError(t, err, stderr.String())
		switch {
		case !strings.Contains(event.Test, "/"):
		case event.Action == "pass":
			passed = append(passed, event.Test)
		case event.Action == "fail":
			failed = append(failed, event.Test)
		}
	}
}

func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "-race" && s.Value == "true"
	})
}

func stories(test string, all map[string]func(*testing.T, *scene)) []string {
	var names []string
	for story := range maps.Keys(all) {
		names = append(names, test+"/"+strings.ReplaceAll(story, " ", "_"))
	}
	slices.Sort(names)
	return names
}
