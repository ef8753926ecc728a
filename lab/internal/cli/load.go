package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/hacking-a-controller/lab/internal/image"
)

func newLoad(a *app) *cobra.Command {
	var timeout time.Duration
	limit := resource.QuantityValue{Quantity: *resource.NewQuantity(image.DefaultLimit, resource.BinarySI)}
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
			return a.load(ctx, args[0], limit.Value())
		},
	}
	command.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "give up after this long")
	command.Flags().Var(&limit, "limit", "refuse an archive that unpacks to more than this, or whose images do")
	return command
}

func (a *app) load(ctx context.Context, archive string, limit int64) error {
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
	store := image.NewStore(l.Images())
	store.Limit = limit
	loaded, err := store.Load(ctx, archive)
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
