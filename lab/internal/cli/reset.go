package cli

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
)

func newReset(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "Stop everything and delete all of it: objects, images, volumes, logs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.stopInTurn(cmd.Context(), a.reset)
		},
	}
}

func (a *app) reset(ctx context.Context, l layout.Layout) error {
	if err := a.stop(ctx, l, syscall.SIGINT); err != nil {
		return err
	}
	keep, takeOut := pki.TakeOutContext(l)
	left, err := l.Remove(takeOut, keep...)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		fmt.Fprintf(a.out, "Deleted what the lab wrote in %s, and left what it did not: %s.\n", l.Root(), strings.Join(left, ", "))
	} else {
		fmt.Fprintf(a.out, "Deleted %s.\n", l.Root())
	}
	return nil
}
