package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/layout"
)

func newReset(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "Stop everything and delete all of it: objects, images, logs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.layout()
			if err != nil {
				return err
			}
			return a.reset(cmd.Context(), l)
		},
	}
}

func (a *app) reset(ctx context.Context, l layout.Layout) error {
	if !l.Exists() {
		if _, err := os.Stat(l.Root()); errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(a.out, "There is no lab in %s.\n", l.Root())
			return nil
		}
		return fmt.Errorf("%s was not written by the lab: not deleting it", l.Root())
	}
	unlock, err := takeTurn(ctx, l)
	if err != nil {
		return err
	}
	defer unlock()
	if err := a.stop(ctx, l); err != nil {
		return err
	}
	if err := os.RemoveAll(l.Root()); err != nil {
		return fmt.Errorf("deleting the lab's folder: %w", err)
	}
	fmt.Fprintf(a.out, "Deleted %s.\n", l.Root())
	return nil
}
