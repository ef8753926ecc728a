package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/podnet"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// stopPatience is how long the components get to stop in order. Each has five
// seconds before it is killed, see package supervisor.
const stopPatience = 40 * time.Second

func newDown(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop everything, pods too, and keep the data",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.layout()
			if err != nil {
				return err
			}
			exists, err := l.Exists()
			if err != nil {
				return err
			}
			if !exists {
				fmt.Fprintf(a.out, "There is no lab in %s.\n", l.Root())
				return nil
			}
			unlock, err := takeTurn(cmd.Context(), l)
			if err != nil {
				return err
			}
			defer unlock()
			return a.stop(cmd.Context(), l)
		},
	}
}

// stop ends the supervisor, if it runs, and waits until nothing is left.
func (a *app) stop(ctx context.Context, l layout.Layout) error {
	pid, err := supervisor.PID(l)
	if err != nil {
		return err
	}
	patience := gonePatience
	if pid != 0 {
		fmt.Fprintf(a.out, "Stopping the lab in %s ... ", l.Root())
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			return fmt.Errorf("stopping the supervisor (pid %d): %w", pid, err)
		}
		patience = stopPatience
	}
	began := time.Now()
	if err := supervisor.WaitGone(ctx, l, patience); err != nil {
		return err
	}
	if pid != 0 {
		fmt.Fprintln(a.out, seconds(time.Since(began)))
	} else {
		fmt.Fprintf(a.out, "The lab in %s is not running.\n", l.Root())
	}
	return errors.Join(releaseAddresses(l), l.UnlinkKubelet())
}

// releaseAddresses takes the pods' addresses off the loopback interface.
func releaseAddresses(l layout.Layout) error {
	s, err := settings.Load(l.Settings())
	if _, broken := errors.AsType[*atomicfile.BrokenError](err); broken || errors.Is(err, fs.ErrNotExist) {
		return nil // nobody knows which ones
	}
	if err != nil {
		return err
	}
	return podnet.Teardown(s.PodCIDR)
}
