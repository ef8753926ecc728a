package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// stampedPackage is told the version and the revision by the linker.
const stampedPackage = "example.com/hacking-a-controller/06-shipping/manager"

// parsePlatform reads linux/amd64.
func parsePlatform(text string) (v1.Platform, error) {
	if !slices.Contains(platforms, text) {
		return v1.Platform{}, fmt.Errorf("there is no platform %q; choose one of %s", text, strings.Join(platforms, ", "))
	}
	system, processor, _ := strings.Cut(text, "/")
	return v1.Platform{OS: system, Architecture: processor}, nil
}

// compile makes the program of a package, as the file output.
func compile(ctx context.Context, o Options, platform v1.Platform, output string, out io.Writer) error {
	variables, err := environment(ctx, o.Folder, platform)
	if err != nil {
		return err
	}
	if err := isProgram(ctx, o, variables); err != nil {
		return err
	}
	fmt.Fprintf(out, "compiling %s for %s: this takes minutes the first time, and seconds from then on\n", o.Package, platform)
	command := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-buildvcs=false",
		"-ldflags", linkerFlags(o.About), "-o", output, o.Package)
	command.Dir, command.Env = o.Folder, variables
	progress := newProgress(out)
	command.Stderr = progress
	if err := command.Run(); err != nil {
		return progress.explain(err)
	}
	return nil
}

// linkerFlags leave out what only a debugger reads, and the build's id, which is
// of how Go's cache was filled; and they stamp the program.
func linkerFlags(about About) string {
	return fmt.Sprintf("-s -buildid= -X %[1]s.Version=%[2]s -X %[1]s.Revision=%[3]s", stampedPackage, about.Version, about.Revision)
}

// isProgram looks at the package first. Of one that is no program, go build
// would write an archive of object code, and be content.
func isProgram(ctx context.Context, o Options, variables []string) error {
	command := exec.CommandContext(ctx, "go", "list", "-f", "{{.Name}}", "--", o.Package)
	command.Dir, command.Env = o.Folder, variables
	name, err := command.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return fmt.Errorf("%s; choose a program's package with --package", strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return fmt.Errorf("looking at %s: %w", o.Package, err)
	}
	switch found := strings.Fields(string(name)); {
	case len(found) > 1:
		return fmt.Errorf("%s is several packages; choose one program's with --package", o.Package)
	case len(found) == 1 && found[0] != "main":
		return fmt.Errorf("%s is package %s, which is no program; choose a program's package with --package", o.Package, found[0])
	}
	return nil
}
