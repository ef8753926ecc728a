// Command build puts the lab in place, and shows how far it is.
//
// Where LAB_ARCHIVES names an address, and lab/released.txt has an archive of just these sources
// for this system, the lab is fetched (fetch.go). Everywhere else, and whenever that fails, it is
// built. archive as an argument makes such an archive (archive.go).
//
// Kubernetes is almost three thousand packages: on two cores the first build takes
// minutes, and "go build" says nothing in all that time. This program is
// "go build" with a progress display. It needs nothing but the standard
// library, so it runs before any module has been downloaded.
//
// The lab is built with the flags that a plain "go build" would use. They are
// part of the key of Go's build cache: with others (-trimpath, say, or another
// CGO_ENABLED), "go vet", "go test" and the linter would each compile Kubernetes
// once more. Flags for the linker are not part of it.
//
// It is run in the folder of the lab's module: go run ./build.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// program is the package that is built.
	program = "./cmd/lab"
	// output is where the binary goes. The lab finds its clone from there.
	output = "bin/lab"
	// many stale packages take minutes to compile.
	many = 500
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	screen := newDisplay(os.Stdout, isTerminal(os.Stdout))
	err := do(ctx, screen, time.Now(), os.Args[1:])
	screen.Clear()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted; what was compiled so far is kept, so the next build goes on from there")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "building the lab:", err)
		return 1
	}
	return 0
}

// do what the arguments say: nothing, or archive and the platforms.
func do(ctx context.Context, screen *display, start time.Time, args []string) error {
	switch {
	case len(args) == 0:
		return place(ctx, screen, start)
	case args[0] == "archive":
		return archives(ctx, screen, start, args[1:])
	}
	return fmt.Errorf("%q isn't known; without arguments the lab is put in place, and archive linux/amd64 makes an archive of it", args[0])
}

// place fetches the lab, if there is one to fetch, or builds it.
func place(ctx context.Context, screen *display, start time.Time) error {
	if address := os.Getenv("LAB_ARCHIVES"); address != "" {
		err := fetch(ctx, screen, start, address)
		if err == nil || ctx.Err() != nil {
			return err
		}
		screen.Print(fmt.Sprintf("%v; building it from source instead", err))
	}
	return build(ctx, screen, time.Now())
}

// build compiles the lab and puts it in place.
func build(ctx context.Context, screen *display, start time.Time) error {
	version, err := compiled(ctx, screen, start)
	if err != nil {
		return err
	}
	size, err := install()
	if err != nil {
		return err
	}
	screen.Clear()
	screen.Print(fmt.Sprintf("built lab/%s: Kubernetes %s, %d MB, in %s", output, version, size/1e6, elapsed(time.Since(start))))
	return nil
}

// compiled goes through the phases: what is there to do, compile and link. It returns the version of
// Kubernetes.
func compiled(ctx context.Context, screen *display, start time.Time) (version string, err error) {
	folder := temporary(ctx)
	if err := fullTemporary(folder, freeDisk(folder)); err != nil {
		return "", err
	}
	version, err = goOutput(ctx, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return "", fmt.Errorf("reading the version of Kubernetes: %w", err)
	}
	plan, err := makePlan(ctx, screen, start)
	if err != nil {
		return "", err
	}
	if plan.stale > many {
		if warning := lowDisk(freeForCache(ctx)); warning != "" {
			screen.Print(warning)
		}
		screen.Print(fmt.Sprintf("compiling Kubernetes, %d packages: this takes minutes the first time, and seconds from then on", plan.stale))
	}
	return version, compile(ctx, screen, start, plan, version)
}

// install puts the new binary in its place in one step, so that an interrupted
// build leaves the old one, and gives it the names that envtest looks for. What
// the binary does depends on the name it is called by.
func install() (size int64, err error) {
	info, err := os.Stat(unfinished)
	if err != nil {
		return 0, fmt.Errorf("looking for what was built: %w", err)
	}
	if err := os.Rename(unfinished, output); err != nil {
		return 0, fmt.Errorf("putting the binary in its place: %w", err)
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if err := os.Symlink("lab", "bin/"+name); err != nil && !errors.Is(err, os.ErrExist) {
			return 0, fmt.Errorf("naming the binary %s: %w", name, err)
		}
	}
	return info.Size(), nil
}
