package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A builder builds a program with the flags for the compiler that `make lab` uses.
type builder struct {
	pkg     string
	modfile string // instead of go.mod, if it is set
	output  string
	errOut  io.Writer
}

// compile compiles the program and does not link it, which `go build` always does. The
// compiler's complaints are printed in full.
func (b builder) compile(ctx context.Context) error {
	kind, err := goOutput(ctx, b.command("list", "-f", "{{.Name}}")...)
	if err != nil {
		return err
	}
	if kind != "main" {
		return fmt.Errorf("it is no program, but package %s; name the folder of a main package", kind)
	}
	command := goCommand(ctx, b.command("list", "-export", "-f", "")...)
	command.Stderr = b.errOut
	if command.Run() != nil {
		return errors.New("the compiler does not accept it, see above")
	}
	return nil
}

// link links the program. What the linker prints is of interest only when it fails: it
// warns of functions of a static glibc that Go calls only if the system's resolver demands it.
func (b builder) link(ctx context.Context) error {
	flags, err := linkerFlags(ctx)
	if err != nil {
		return err
	}
	if out, err := goCommand(ctx, b.command("build", "-o", b.output, "-ldflags", flags)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// command completes a Go command with the module file and the package.
func (b builder) command(args ...string) []string {
	if b.modfile != "" {
		args = append(args, "-modfile", b.modfile)
	}
	return append(args, "--", b.pkg)
}

// linkerFlags leave out the symbol table and the debugger's tables, and give Kubernetes its version, which
// its own build scripts do elsewhere; without it the scheduler does not start. They make the program static where
// the lab gives a container a root directory of its own, which has no libc. To compile without C would do
// that, too, but not for what was compiled for the lab: it would compile Kubernetes again.
func linkerFlags(ctx context.Context) (string, error) {
	version, err := goOutput(ctx, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	flags, parts := "-s -w", strings.Split(strings.TrimPrefix(version, "v"), ".")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags += fmt.Sprintf(" -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s", pkg, version, parts[0], parts[1])
	}
	cgo, err := goOutput(ctx, "env", "CGO_ENABLED")
	if err != nil {
		return "", err
	}
	if cgo == "1" && runtime.GOOS == "linux" {
		flags += " -linkmode=external -extldflags=-static"
	}
	return flags, nil
}

// replaceKubernetes writes a copy of go.mod and of go.sum to a folder. The copy has
// k8s.io/kubernetes from another place.
func replaceKubernetes(ctx context.Context, kubernetes, folder string) (modfile string, err error) {
	kubernetes, err = filepath.Abs(kubernetes)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(kubernetes, "go.mod"))
	if err != nil || !bytes.Contains(content, []byte("module k8s.io/kubernetes\n")) {
		return "", errors.New("it is no copy of the module k8s.io/kubernetes")
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return "", err
		}
	}
	modfile = filepath.Join(folder, "go.mod")
	_, err = goOutput(ctx, "mod", "edit", "-replace", "k8s.io/kubernetes="+kubernetes, modfile)
	return modfile, err
}

// goCommand is a Go command for this module. A workspace knows no -modfile.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(os.Environ(), "GOWORK=off")
	return command
}

// goOutput runs a Go command that is quick and returns what it printed. The error is the
// first line of its complaint.
func goOutput(ctx context.Context, args ...string) (string, error) {
	out, err := goCommand(ctx, args...).Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		complaint, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return "", errors.New(strings.TrimSuffix(complaint, ":"))
	}
	return strings.TrimSpace(string(out)), err
}
