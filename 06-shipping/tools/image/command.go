package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

const (
	// name is what pods call the image.
	name = "cnat-manager"
	// program is the package of the manager.
	program = "./cmd/manager"
	// stamped is the package whose variables the linker sets.
	stamped = "example.com/hacking-a-controller/06-shipping/manager"
	// entrypoint is the only file of the image.
	entrypoint = "/manager"
	// user is nobody in particular. It is a number, because the image has no list of names, and because a node must see
	// that it is not root.
	user = "65532:65532"
)

// Options say what to build.
type Options struct {
	Version   string    // of the manager, and the tag of the image
	Revision  string    // the commit
	Created   time.Time // the time of the commit
	Platforms []string  // such as linux/amd64
	Output    string    // the archive
}

// platforms that a program can be compiled for. The lab runs programs of its own system, which may be darwin.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

var tag = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// Command returns the program. What its flags and git say, it hands to run, which is [Build].
func Command(run func(ctx context.Context, o Options, stdout io.Writer) error) *cobra.Command {
	var o Options
	command := &cobra.Command{
		Use:   "image",
		Short: "Build the manager's image without Docker, as an OCI archive",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx := command.Context()
			if err := o.check(command.Flags().Changed("revision")); err != nil {
				return cli.UsageError(command, err)
			}
			err := o.askGit(ctx)
			if err == nil {
				err = run(ctx, o, command.OutOrStdout())
			}
			if ctx.Err() != nil {
				return errors.New("interrupted; what was compiled so far is kept, so the next build goes on from there")
			}
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Output, "output", "../bin/cnat-manager.tar", "the archive")
	flags.StringVar(&o.Version, "version", "v0.6.0", "the version, which is the image's tag")
	flags.StringVar(&o.Revision, "revision", "", "the commit (default: git's)")
	flags.StringSliceVar(&o.Platforms, "platform", []string{"linux/" + runtime.GOARCH}, "what the image runs on, such as linux/amd64,linux/arm64")
	return command
}

// check is about what the command line says, which may be the revision.
func (o Options) check(revision bool) error {
	switch {
	case !tag.MatchString(o.Version):
		return fmt.Errorf("--version %q is no tag: that is up to 128 letters, digits, dots, dashes and underscores", o.Version)
	case revision && !tag.MatchString(o.Revision):
		return fmt.Errorf("--revision %q is not the name of a commit", o.Revision)
	case len(o.Platforms) == 0:
		return errors.New("--platform is empty")
	}
	for _, platform := range o.Platforms {
		if !slices.Contains(platforms, platform) {
			return fmt.Errorf("there is no platform %q; choose of %s", platform, strings.Join(platforms, ", "))
		}
	}
	return nil
}

// Build compiles the manager for each platform, and writes the archive.
func Build(ctx context.Context, o Options, stdout io.Writer) error {
	start := time.Now()
	archive, err := oci.Create(o.Output)
	if err != nil {
		return err
	}
	defer archive.Close()
	var images []oci.Image
	for i, platform := range o.Platforms {
		fmt.Fprintf(stdout, "compiling %s for %s: this takes minutes the first time, and seconds from then on\n", program, platform)
		manager := filepath.Join(archive.Work, strconv.Itoa(i))
		if err := oci.Compile(ctx, platform, program, manager, "-X", stamped+".Version="+o.Version, "-X", stamped+".Revision="+o.Revision); err != nil {
			return fmt.Errorf("compiling for %s: %w", platform, err)
		}
		images = append(images, o.newImage(platform, manager))
	}
	digest, size, err := archive.Write(name+":"+o.Version, images...)
	if err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	fmt.Fprintf(stdout, "made %s:%s of revision %s, in %s\n", name, o.Version, o.Revision, time.Since(start).Round(time.Second))
	fmt.Fprintf(stdout, "  %s, %.1f MB, %s\n", o.Output, float64(size)/1e6, digest)
	return nil
}

// newImage is the image for a platform: the manager, which cannot change itself, and what a node has to know to run it.
func (o Options) newImage(platform, manager string) oci.Image {
	return oci.Image{
		Platform: platform,
		Created:  o.Created,
		Config: v1.Config{Entrypoint: []string{entrypoint}, User: user, Labels: map[string]string{
			"org.opencontainers.image.title":    name,
			"org.opencontainers.image.version":  o.Version,
			"org.opencontainers.image.revision": o.Revision,
			"org.opencontainers.image.licenses": "Apache-2.0",
		}},
		Layers: []oci.Layer{{
			Files:     map[string]oci.File{entrypoint: {Source: manager, Mode: 0o555}},
			CreatedBy: "COPY manager " + entrypoint,
		}},
	}
}
