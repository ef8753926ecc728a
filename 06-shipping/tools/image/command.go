package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"time"

	"github.com/spf13/pflag"
)

// Run is the program image: it makes the image that its arguments describe, and
// returns the program's exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := run(ctx, args, stdout)
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "interrupted; what was compiled so far is kept, so the next build goes on from there")
		return 130
	}
	fmt.Fprintln(stderr, "error:", err)
	return 1
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	start := time.Now()
	o, err := parseOptions(ctx, args, stdout)
	if err != nil {
		return err
	}
	made, err := Make(ctx, o, stdout)
	if err != nil {
		return err
	}
	info, err := os.Stat(o.Output)
	if err != nil {
		return fmt.Errorf("looking at the archive: %w", err)
	}
	fmt.Fprintf(stdout, "made %s of revision %s, in %s\n", made.Name, o.Revision, time.Since(start).Round(time.Second))
	fmt.Fprintf(stdout, "  %s, %.1f MB, %s\n", o.Output, float64(info.Size())/1e6, made.Digest)
	fmt.Fprintf(stdout, "  %s\n", made.SBOM)
	return nil
}

var (
	tag  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	name = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)
)

// parseOptions reads the command line, and asks git for what it does not say.
func parseOptions(ctx context.Context, args []string, help io.Writer) (Options, error) {
	var o Options
	flags := pflag.NewFlagSet("image", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(io.Discard) // errors are told once, by Run
	flags.Usage = func() {
		fmt.Fprintf(help, "Builds an image without Docker, as an OCI archive.\n\nUsage:\n  image [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}
	flags.StringVar(&o.Output, "output", "../bin/cnat-manager.tar", "the archive; the SBOM goes beside it")
	flags.StringVar(&o.Version, "version", "v0.6.0", "the version, which is the image's tag")
	flags.StringVar(&o.Revision, "revision", "", "the commit (default: git's)")
	flags.StringVar(&o.Name, "name", "cnat-manager", "the image's name")
	flags.StringVar(&o.Package, "package", "./cmd/manager", "the program's package")
	flags.StringSliceVar(&o.Platforms, "platform", []string{"linux/" + runtime.GOARCH}, "what the image runs on, such as linux/amd64,linux/arm64")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return o, err
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case !tag.MatchString(o.Version):
		err = fmt.Errorf("--version %q is no tag: that is up to 128 letters, digits, dots, dashes and underscores", o.Version)
	case flags.Changed("revision") && !tag.MatchString(o.Revision):
		err = fmt.Errorf("--revision %q is not the name of a commit", o.Revision)
	case !name.MatchString(o.Name):
		err = fmt.Errorf("--name %q is no image's name: that is small letters and digits, with dots, dashes and underscores between them", o.Name)
	case len(o.Platforms) == 0:
		err = errors.New("--platform is empty")
	}
	if err != nil {
		return o, fmt.Errorf("%w; see image --help", err)
	}
	return o, o.askGit(ctx)
}

// askGit fills in what neither the command line nor the environment says.
func (o *Options) askGit(ctx context.Context) error {
	created, dated, err := sourceDate()
	if err != nil {
		return err
	}
	if dated && o.Revision != "" {
		o.Created = created
		return nil
	}
	revision, at, err := commit(ctx, o.Folder)
	if err != nil {
		return err
	}
	if o.Revision == "" {
		o.Revision = revision
	}
	if o.Created = at; dated {
		o.Created = created
	}
	return nil
}
