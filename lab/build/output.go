package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// goOutput runs a Go command that is quick and returns what it printed.
func goOutput(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return "", fmt.Errorf("go %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
