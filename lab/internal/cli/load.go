package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/image"
)

func newLoad(a *app) *cobra.Command {
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "load IMAGE.tar",
		Short: "Put images (an OCI or docker archive) where pods can use them",
		Long: `Put the images of an archive, OCI's or docker's, where pods can use them: those that
are for this machine and have a name, under all of their names. What is left out
beside them, it says on standard error.`,
		Args: oneArgument("the archive: lab load IMAGE.tar"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("not loaded within %s (to wait longer: --timeout)", timeout))
			defer cancel()
			return a.load(ctx, args[0])
		},
	}
	command.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "give up after this long")
	return command
}

func (a *app) load(ctx context.Context, archive string) error {
	l, err := a.layout()
	if err != nil {
		return err
	}
	if _, err := os.Stat(archive); err != nil {
		return fmt.Errorf("loading an image: %w", err) // before a folder is made for it
	}
	unlock, err := takeTurn(ctx, l)
	if err != nil {
		return err
	}
	unlock() // there are folders now
	loaded, err := image.NewStore(l.Images()).Load(ctx, archive)
	if err != nil {
		return err
	}
	for _, name := range loaded.Names {
		fmt.Fprintf(a.out, "loaded %s\n", name)
	}
	for _, sentence := range loaded.LeftOut {
		fmt.Fprintln(os.Stderr, "warning:", sentence) // standard output is for the names
	}
	return nil
}
