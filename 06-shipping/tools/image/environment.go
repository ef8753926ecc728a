package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// platforms that a program can be compiled for. The lab runs programs of its own
// system, which may be darwin.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// sources are the settings of Go that say where things are. They change nothing
// about the program, and a machine on which they are set needs them.
var sources = []string{
	"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOVCS",
	"GOMODCACHE", "GOCACHE", "GOCACHEPROG", "GOTMPDIR", "GOTOOLCHAIN",
}

// environment is the environment of the go command that compiles for a platform. All
// other settings of Go that a user has made, in the environment or with go env -w, would
// make another image.
func environment(ctx context.Context, folder string, platform v1.Platform) ([]string, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, sources...)...)
	command.Dir = folder
	out, err := command.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return nil, errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("asking go env where modules come from: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(out, &values); err != nil {
		return nil, fmt.Errorf("reading what go env says: %w", err)
	}
	variables := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GO")
	})
	for name, value := range values {
		variables = append(variables, name+"="+value)
	}
	return append(variables, "GOENV=off", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture), nil
}
