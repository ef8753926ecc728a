package image

import (
	"bytes"
	"context"
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
	fmt.Fprintf(out, "compiling %s for %s: this takes minutes the first time, and seconds from then on\n", o.Package, platform)
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", linkerFlags(o.About), "-o", output, o.Package)
	command.Dir, command.Env = o.Folder, variables
	if complaint, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(complaint))
	}
	return nil
}

// linkerFlags leave out what only a debugger reads, and the build ID, which only Go's own
// cache needs; and they set the version and the revision.
func linkerFlags(about About) string {
	return fmt.Sprintf("-s -buildid= -X %[1]s.Version=%[2]s -X %[1]s.Revision=%[3]s", stampedPackage, about.Version, about.Revision)
}
