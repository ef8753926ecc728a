package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// kubernetesVersion is the version of Kubernetes that go.mod requires.
func kubernetesVersion(ctx context.Context) (string, error) {
	out, err := goOutput(ctx, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return "", fmt.Errorf("reading the version of Kubernetes: %w", err)
	}
	return out, nil
}

// linkerFlags leave out the symbol table and the debugger's tables, a third of
// the binary, and tell Kubernetes its version. Kubernetes gets it from its own
// build scripts; without it the scheduler and kubectl do not start.
func linkerFlags(version string) string {
	flags := []string{"-s", "-w"}
	major, minor := majorMinor(version)
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+version,
			"-X", pkg+".gitMajor="+major,
			"-X", pkg+".gitMinor="+minor)
	}
	return strings.Join(flags, " ")
}

// majorMinor takes v1.36.3 apart.
func majorMinor(version string) (major, minor string) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}

// goOutput runs a Go command that is quick and returns what it printed.
func goOutput(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return "", fmt.Errorf("go %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
