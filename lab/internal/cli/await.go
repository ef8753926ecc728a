package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

const (
	// awaitPause is how long await waits after a try, at least. After one that took longer it waits
	// as long as that took, so that it doesn't keep a busy machine busier.
	awaitPause = 500 * time.Millisecond
	// awaitSilence is after how long await says what it waits for.
	awaitSilence = 10 * time.Second
	// awaitDrain is how long await reads on when a process that a try has left in the
	// background holds the try's output open.
	awaitDrain = time.Second
)

func newAwait(a *app) *cobra.Command {
	var limit time.Duration
	command := &cobra.Command{
		Use:   "await 'SHELL COMMAND'",
		Short: "Run a command again and again until it succeeds, and print what it then printed",
		Long: `Run a command, with sh -c, until it exits with 0, and print what that last one wrote to
standard output. Between two tries is half a second, or as long as the last one took. If
none has succeeded in time, print what the last one wrote, and exit with 1. On a terminal,
it says after ten seconds what it waits for. It needs no running lab.`,
		Example: `  lab await 'kubectl get pod web -o name'
  lab await --for=5m 'test "$(kubectl get at demo -o jsonpath={.status.phase})" = DONE'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := oneArgument("the command, in quotes: lab await 'test -e ready'")(cmd, args); err != nil {
				return err
			}
			if args[0] == "" {
				return errors.New("the command is empty: lab await 'test -e ready'")
			}
			if limit <= 0 {
				return fmt.Errorf("--for is %s, and has to be more than nothing", limit)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			notice := io.Discard // what a program reads is what the command says, and no more
			if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
				notice = os.Stderr
			}
			return await(cmd.Context(), a.out, os.Stderr, notice, args[0], limit)
		},
	}
	command.Flags().DurationVar(&limit, "for", 2*time.Minute, "give up after this long")
	return command
}

// await tries a shell command until it succeeds. The end of ctx, and the limit, end a try
// that runs, too. If it takes long, notice gets what is waited for.
func await(ctx context.Context, out, errOut, notice io.Writer, command string, limit time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last string
	for speak := time.Now().Add(awaitSilence); ; {
		began := time.Now()
		stdout, stderr, err := try(bounded, command)
		pause := max(awaitPause, time.Since(began))
		if err == nil {
			_, err = io.WriteString(out, stdout)
			return err
		}
		if all := stdout + stderr; all != "" || bounded.Err() == nil { // the limit may end a try before it says anything
			last = all
		}
		if !speak.IsZero() && time.Now().After(speak) {
			fmt.Fprintf(notice, "lab: waiting, for %s at most, until this succeeds: %s\n%s", limit, command, last)
			speak = time.Time{}
		}
		if bounded.Err() == nil {
			select {
			case <-bounded.Done():
			case <-time.After(pause):
				continue
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; this was not so yet: %s", command)
		}
		_, _ = io.WriteString(errOut, last)
		return fmt.Errorf("still not so after %s: %s", limit, command)
	}
}

// try runs a shell command once, in a process group of its own, which ends with ctx. It
// returns what it wrote.
func try(ctx context.Context, command string) (stdout, stderr string, err error) {
	var out, errOut strings.Builder
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = awaitDrain
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it exited with 0
		err = nil
	}
	return out.String(), errOut.String(), err
}
