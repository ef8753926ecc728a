package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/claim"
	"example.com/hacking-a-controller/lab/internal/cluster"
	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/filelock"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/podnet"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// gonePatience is how long processes of a supervisor that was killed get to
// end by themselves.
const gonePatience = 5 * time.Second

const staticPodsFlag = "static-pods"

func newUp(a *app) *cobra.Command {
	var timeout time.Duration
	var staticPods bool
	command := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster and return when it is usable",
		Long: `Start the cluster and return when it is usable.

With --static-pods, the kubelet runs the scheduler and the controller manager, as
static pods, from manifests that you can change. The lab stays so, until
--static-pods=false. Both work while it runs, too.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("not usable within %s", timeout))
			defer cancel()
			if !cmd.Flags().Changed(staticPodsFlag) {
				return a.up(ctx, nil)
			}
			return a.up(ctx, &staticPods)
		},
	}
	command.Flags().BoolVar(&staticPods, staticPodsFlag, false, "have the kubelet run the scheduler and the controller manager")
	command.Flags().DurationVar(&timeout, "timeout", 3*time.Minute, "give up after this long")
	return command
}

// up starts the lab. staticPods is nil when it is to stay as it is.
func (a *app) up(ctx context.Context, staticPods *bool) error {
	began := time.Now()
	l, err := a.layout()
	if err != nil {
		return err
	}
	if err := a.ensureSupervisor(ctx, l, staticPods); err != nil {
		return explain(ctx, err)
	}
	if err := a.waitUsable(ctx, l); err != nil {
		return err
	}
	if staticPods != nil && *staticPods {
		if err := a.await(ctx, staticPodsRun("the static pods run", l, true)); err != nil {
			return explain(ctx, err)
		}
	}
	fmt.Fprintf(a.out, "The cluster is usable (%s).\n\n", seconds(time.Since(began)))
	fmt.Fprintf(a.out, "kubeconfig:  %s\n", l.AdminKubeconfig())
	fmt.Fprintf(a.out, "next:        %[1]s kubectl get namespaces   (or: eval \"$(%[1]s env)\", then kubectl)\n", self())
	return nil
}

// ensureSupervisor starts the supervisor in the background unless it runs.
func (a *app) ensureSupervisor(ctx context.Context, l layout.Layout, staticPods *bool) error {
	unlock, err := takeTurn(ctx, l)
	if err != nil {
		return err
	}
	defer unlock()
	pid, err := supervisor.PID(l)
	if err != nil {
		return err
	}
	stopping := false
	if pid != 0 {
		state, err := supervisor.ReadState(l)
		stopping = err == nil && state.PID == pid && state.Stopping
	}
	if pid != 0 && !stopping {
		fmt.Fprintf(a.out, "The lab in %s is already started.\n", l.Root())
		if staticPods == nil {
			return nil
		}
		return a.useStaticPods(ctx, l, *staticPods)
	}
	if stopping { // a down that was interrupted
		if err := a.stop(ctx, l, syscall.SIGTERM); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.out, "Starting Kubernetes in %s\n", l.Root())
	a.print(watchLimit(l.Root()))
	if err := supervisor.WaitGone(ctx, l, gonePatience); err != nil {
		return err
	}
	var claims claim.Claims
	defer claims.Release() // the supervisor has them, too
	if err := a.prepare(l, &claims, staticPods); err != nil {
		return err
	}
	return startSupervisor(ctx, l, &claims)
}

// takeTurn waits until no other up, down or reset is at work on this lab, and makes its folders.
func takeTurn(ctx context.Context, l layout.Layout) (unlock func(), _ error) {
	for {
		err := l.Mark()
		if err == nil {
			var lock *os.File
			if lock, err = filelock.Lock(ctx, l.CommandLock()); err == nil {
				return func() { _ = lock.Close() }, l.Create()
			}
		}
		if !errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil { // else a reset has deleted the folder meanwhile
			return nil, err
		}
	}
}

// prepare writes all that the components read when they start.
func (a *app) prepare(l layout.Layout, claims *claim.Claims, staticPods *bool) error {
	s, sentences, err := settings.Ensure(l.Settings(), claims, podnet.Choose)
	a.print(sentences)
	if err != nil {
		return err
	}
	if staticPods != nil {
		if err := a.prepareStaticPods(l, *staticPods); err != nil {
			return err
		}
	}
	if _, err := l.LinkKubelet(); err != nil { // else the kubelet would fail, again and again
		return err
	}
	if err := component.WriteAuditPolicy(l); err != nil {
		return err
	}
	sentences, err = pki.Create(l, component.NodeName, component.FirstServiceIP)
	a.print(sentences)
	if err != nil {
		return err
	}
	return pki.WriteKubeconfigs(l, component.APIServerURL(s), "https://"+s.Address(settings.FaultProxy))
}

func (a *app) print(sentences []string) {
	for _, sentence := range sentences {
		fmt.Fprintln(a.out, sentence)
	}
}

// startSupervisor starts it in a session of its own, so that it outlives this
// command and its terminal, and returns once it holds its lock. It inherits the claims.
func startSupervisor(ctx context.Context, l layout.Layout, claims *claim.Claims) error {
	exe, err := layout.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(l.Log("supervisor"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	files := claims.Files()
	cmd := exec.Command(exe, "supervise", "--dir="+l.Root(), fmt.Sprintf("--claims=%d", len(files)))
	cmd.ExtraFiles = files
	cmd.Dir = l.Root()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		pid, err := supervisor.PID(l)
		if err != nil || pid == cmd.Process.Pid {
			return err
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the supervisor ended at once: %w (its log: %s)", err, l.Log("supervisor"))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// waitUsable waits for one condition after the other and shows each.
func (a *app) waitUsable(ctx context.Context, l layout.Layout) error {
	if err := ownContext(l.AdminKubeconfig()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go watchForTrouble(ctx, l, cancel)

	client, err := cluster.NewClient(l.AdminKubeconfig())
	if err != nil {
		return err
	}
	for _, condition := range cluster.Usable(client, component.NodeName) {
		if err := a.await(ctx, condition); err != nil {
			return explain(ctx, err)
		}
	}
	return nil
}

// await waits for a condition and shows it.
func (a *app) await(ctx context.Context, c cluster.Condition) error {
	return a.waitUntil(c.Name, func() error { return cluster.Wait(ctx, c) })
}

// waitUntil waits and shows for what, and how long it took.
func (a *app) waitUntil(what string, wait func() error) error {
	began := time.Now()
	fmt.Fprintf(a.out, "  waiting until %s ... ", what)
	if err := wait(); err != nil {
		fmt.Fprintln(a.out, "no")
		return err
	}
	fmt.Fprintln(a.out, seconds(time.Since(began)))
	return nil
}

// explain prefers the reason why the waiting ended to what was waited for.
func explain(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, context.Canceled):
		return errors.New("interrupted; the lab goes on starting in the background (to look: lab status; to stop it: lab down)")
	case errors.Is(ctx.Err(), context.DeadlineExceeded): // err ends with the last answer
		cause = err
		fallthrough
	default:
		return fmt.Errorf("%w (to look closer: lab status, lab logs COMPONENT)", cause)
	}
}

// self is how the user has called this program.
func self() string {
	if strings.ContainsAny(os.Args[0], " '\"$") {
		return quote(os.Args[0])
	}
	return os.Args[0]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
