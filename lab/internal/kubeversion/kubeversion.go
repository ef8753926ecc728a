// Package kubeversion knows which version of Kubernetes the lab is of, and how the programs of
// Kubernetes learn it. It needs nothing but the standard library, as the lab's build does.
package kubeversion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Required is the version of Kubernetes that go.mod requires. It is to be called in the folder of the
// lab's module.
func Required(ctx context.Context) (string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	command.Env = append(os.Environ(), "GOWORK=off")
	out, err := command.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("reading the version of Kubernetes: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// LinkerFlags leave out the symbol table and the debugger's tables, a third of
// the binary, and tell Kubernetes its version. Kubernetes gets it from its own
// build scripts; without it the scheduler and kubectl do not start.
func LinkerFlags(version string) string {
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

// majorMinor takes v1.37.2 apart.
func majorMinor(version string) (major, minor string) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}
