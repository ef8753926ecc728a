package image

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// agentPath is the agent in the image.
const agentPath = "/agent"

// compileAgent compiles the agent's package as a static program.
func compileAgent(ctx context.Context, pkg, output string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -buildid=", "-o", output, pkg)
	build.Env = agentEnvironment()
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the agent: %w\n%s", err, bytes.TrimSpace(output))
	}
	return nil
}

// agentEnvironment is that of the go command. What a user has set for his own programs would
// make another image.
func agentEnvironment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=", "GOAMD64=", "GOARM64=", "GOEXPERIMENT=")
}
