package image

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// program is the package of the manager.
	program = "./cmd/manager"
	// stamped is the package whose variables the linker sets.
	stamped = "example.com/hacking-a-controller/06-shipping/manager"
)

// sources are the settings of Go that say where things are. They change nothing about the program, and a machine on
// which they are set needs them.
var sources = []string{
	"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOVCS",
	"GOMODCACHE", "GOCACHE", "GOCACHEPROG", "GOTMPDIR", "GOTOOLCHAIN",
}

// compile returns the program for a platform. The linker leaves out what only a debugger reads, and the build ID, which
// only Go's own cache needs.
func compile(ctx context.Context, o Options, platform string) ([]byte, error) {
	variables, err := environment(ctx, platform)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	output := filepath.Join(work, "manager")
	flags := fmt.Sprintf("-s -buildid= -X %[1]s.Version=%[2]s -X %[1]s.Revision=%[3]s", stamped, o.Version, o.Revision)
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", output, program)
	command.Env = variables
	if complaint, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(complaint))
	}
	return os.ReadFile(output)
}

// environment is the environment of the go command that compiles for a platform. All other settings of Go that a user
// has made, in the environment or with go env -w, would make another image.
func environment(ctx context.Context, platform string) ([]string, error) {
	out, err := output(ctx, "go", append([]string{"env", "-json"}, sources...)...)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	if err := json.Unmarshal([]byte(out), &values); err != nil {
		return nil, fmt.Errorf("reading what go env says: %w", err)
	}
	var variables []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GO") {
			variables = append(variables, variable)
		}
	}
	for name, value := range values {
		variables = append(variables, name+"="+value)
	}
	system, processor, _ := strings.Cut(platform, "/")
	return append(variables, "GOENV=off", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor), nil
}

// askGit fills in the commit and its time, unless --revision and SOURCE_DATE_EPOCH do. With changes that are not
// committed, the revision says so.
func (o *Options) askGit(ctx context.Context) error {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" || o.Revision == "" {
		last, err := output(ctx, "git", "log", "-1", "--format=%H %ct")
		if err != nil {
			return fmt.Errorf("git does not know this commit; say it with --revision, and its time, in seconds since 1970, with SOURCE_DATE_EPOCH (%w)", err)
		}
		changes, err := output(ctx, "git", "status", "--porcelain")
		if err != nil {
			return err
		}
		revision, committed, _ := strings.Cut(last, " ")
		if changes != "" {
			revision += "-dirty"
		}
		if o.Revision == "" {
			o.Revision = revision
		}
		if epoch == "" {
			epoch = committed
		}
	}
	seconds, err := strconv.ParseUint(epoch, 10, 33) // tar files go up to 2242
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q, which is no number of seconds since 1970; correct or unset it", epoch)
	}
	o.Created = time.Unix(int64(seconds), 0).UTC()
	return nil
}

// output is what a program prints. If it fails, the error is its first complaint.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		reason, _, _ := strings.Cut(string(exit.Stderr), "\n")
		return "", errors.New(reason)
	}
	return strings.TrimSpace(string(out)), err
}
