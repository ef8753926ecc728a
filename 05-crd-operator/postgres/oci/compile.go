package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// sources are the settings of Go that say where things are. They change nothing about the program, and a machine on
// which they are set needs them.
var sources = []string{
	"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOVCS",
	"GOMODCACHE", "GOCACHE", "GOCACHEPROG", "GOTMPDIR", "GOTOOLCHAIN",
}

// Compile compiles a package as a static program for a platform, such as linux/amd64, with more flags for the linker. The
// linker leaves out what only a debugger reads, and the build ID, which only Go's own cache needs.
func Compile(ctx context.Context, platform, pkg, output string, linker ...string) error {
	settings, err := Environment(ctx, platform)
	if err != nil {
		return err
	}
	flags := strings.Join(append([]string{"-s", "-buildid="}, linker...), " ")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", output, pkg)
	command.Env = settings
	if complaint, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(complaint))
	}
	return nil
}

// Environment is the environment of the go command that compiles for a platform. All other settings of Go that a user
// has made, in the environment or with go env -w, would make another image.
func Environment(ctx context.Context, platform string) ([]string, error) {
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, sources...)...)
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w: %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	values := map[string]string{}
	if err := json.Unmarshal(out, &values); err != nil {
		return nil, fmt.Errorf("reading what go env says: %w", err)
	}
	var settings []string
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "GO") {
			settings = append(settings, setting)
		}
	}
	for name, value := range values {
		settings = append(settings, name+"="+value)
	}
	system, processor, _ := strings.Cut(platform, "/")
	return append(settings, "GOENV=off", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor), nil
}
