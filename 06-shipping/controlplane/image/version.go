package main

import (
	"context"
	"strings"
)

// versionFlags are the linker flags that leave out the symbol table and the debugger's tables, and
// tell Kubernetes its version. Kubernetes gets it from its own build scripts; without it the
// scheduler does not start.
func versionFlags(ctx context.Context) (string, error) {
	version, err := goOutput(ctx, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	major, minor := majorMinor(version)
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+version,
			"-X", pkg+".gitMajor="+major,
			"-X", pkg+".gitMinor="+minor)
	}
	return strings.Join(flags, " "), nil
}

// majorMinor takes v1.37.2 apart.
func majorMinor(version string) (major, minor string) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}
