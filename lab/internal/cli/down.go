package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/claim"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/podnet"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

const (
	// podsPatience is how long the pods get: package supervisor ends them earlier.
	podsPatience = time.Minute
	// stopPatience is how long the components get to stop in order. Each has five
	// seconds before it is killed, see package supervisor.
	stopPatience = 40 * time.Second
)

func newDown(a *app) *cobra.Command {
	var now bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop everything, pods too, and keep the data",
		Long: `Stop everything, and keep the data. The pods end as those of a node that shuts
down: their preStop hooks run, and each has its termination grace period, but no
more than 30 seconds. The next lab up starts them again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.stopInTurn(cmd.Context(), func(ctx context.Context, l layout.Layout) error {
				if now {
					return a.stop(ctx, l, syscall.SIGINT)
				}
				return a.stop(ctx, l, syscall.SIGTERM)
			})
		},
	}
	command.Flags().BoolVar(&now, "now", false, "do not wait for the pods: no hooks, and two seconds until they are killed")
	return command
}

// stopInTurn calls stop for a lab that exists, while no other up, down or reset is at work on it.
func (a *app) stopInTurn(ctx context.Context, stop func(context.Context, layout.Layout) error) error {
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
	unlock, err := takeTurn(ctx, l)
	if err != nil {
		return err
	}
	defer unlock()
	return stop(ctx, l)
}

// stop ends the supervisor, if it runs, and waits until nothing is left. The signal
// says whether the pods get their time, see supervise.
func (a *app) stop(ctx context.Context, l layout.Layout, signal syscall.Signal) error {
	pid, err := supervisor.PID(l)
	if err != nil {
		return err
	}
	if pid == 0 {
		if err := supervisor.WaitGone(ctx, l, gonePatience); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "The lab in %s is not running.\n", l.Root())
		return errors.Join(releaseAddresses(l), l.UnlinkKubelet())
	}
	fmt.Fprintf(a.out, "Stopping the lab in %s\n", l.Root())
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("stopping the supervisor (pid %d): %w", pid, err)
	}
	if signal == syscall.SIGTERM {
		if err := a.waitUntil("the pods have ended", func() error { return waitPodsEnded(ctx, l, pid) }); err != nil {
			return explainStopping(ctx, err)
		}
	}
	if err := a.waitUntil("all processes have ended", func() error { return supervisor.WaitGone(ctx, l, stopPatience) }); err != nil {
		return explainStopping(ctx, err)
	}
	return errors.Join(releaseAddresses(l), l.UnlinkKubelet())
}

func explainStopping(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted; the lab goes on stopping in the background (not to wait for its pods: lab down --now)")
	}
	return err
}

// waitPodsEnded waits until the supervisor has stopped the kubelet, which is when the
// pods end, or is gone.
func waitPodsEnded(ctx context.Context, l layout.Layout, pid int) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, podsPatience, true, func(context.Context) (bool, error) {
		state, err := supervisor.ReadState(l)
		if err == nil && state.PID == pid && state.Components[settings.Kubelet].Stopped {
			return true, nil
		}
		now, err := supervisor.PID(l)
		return now != pid, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil { // a supervisor that hangs; its processes are killed next
		return nil
	}
	return err
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
	var claims claim.Claims
	defer claims.Release()
	// The kernel may need a moment to end the claim of a supervisor that has ended. If it still has
	// an owner after that, that's another lab, which keeps the addresses.
	for range 20 {
		if ours, err := claims.Pods(s.PodCIDR); err != nil {
			return err
		} else if ours {
			return podnet.Teardown(s.PodCIDR)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}
