package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// startPatience bounds one start.
const startPatience = 2 * time.Minute

// measureStart compares the two kinds of start, in turn, so that whatever else
// the machine does falls on both.
func measureStart(ctx context.Context, runs int) error {
	fmt.Printf("Start on empty state, %d runs each, in turn\n\n", runs)
	var bare, lab, static []time.Duration
	for range runs {
		b, err := startBare(ctx)
		if err != nil {
			return fmt.Errorf("starting a bare control plane: %w", err)
		}
		l, err := startLab(ctx)
		if err != nil {
			return err
		}
		s, err := startLab(ctx, "--static-pods")
		if err != nil {
			return err
		}
		bare, lab, static = append(bare, b), append(lab, l), append(static, s)
	}
	ratio := median(lab).Seconds() / median(bare).Seconds()
	staticRatio := median(static).Seconds() / median(lab).Seconds()
	fmt.Printf("| from | to | median | all runs |\n|---|---|---|---|\n")
	fmt.Printf("| etcd and kube-apiserver started by hand | /readyz is ok | %.2f s | %s |\n", median(bare).Seconds(), list(bare))
	fmt.Printf("| lab up | usable | %.2f s | %s |\n", median(lab).Seconds(), list(lab))
	fmt.Printf("| lab up --static-pods | usable, and the static pods run | %.2f s | %s |\n", median(static).Seconds(), list(static))
	fmt.Printf("\nratios: %.2f and %.2f (at most %.1f)\n", ratio, staticRatio, maxStartRatio)
	if ratio > maxStartRatio {
		return fmt.Errorf("the lab's start takes %.2f times the bare control plane's, not %.1f", ratio, maxStartRatio)
	}
	if staticRatio > maxStartRatio {
		return fmt.Errorf("the start with static pods takes %.2f times the lab's, not %.1f", staticRatio, maxStartRatio)
	}
	return nil
}

// startLab measures `lab up` as a user sees it: with its certificates, its
// supervisor, and all that makes a cluster usable.
func startLab(ctx context.Context, flags ...string) (time.Duration, error) {
	lab, err := labtest.New()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	out, err := lab.Command(ctx, append([]string{"up"}, flags...)...)
	took := time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return took, lab.Remove()
}

// startBare measures the two processes alone, with the flags that the lab
// gives them. Their certificates are made before the clock starts.
func startBare(ctx context.Context) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	dir, err := os.MkdirTemp("", "bare ")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	l, s, err := prepareBare(dir + "/lab")
	if err != nil {
		return 0, err
	}
	checker, err := component.NewChecker(l)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	components := component.All(l, s)[:2] // etcd and the API server, as envtest runs them
	for _, c := range components {
		stop, err := startProcess(l, c)
		if err != nil {
			return 0, err
		}
		defer stop()
	}
	ready := components[len(components)-1].Health
	err = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		return checker.Check(ctx, ready) == nil, nil
	})
	return time.Since(began), err
}

func prepareBare(dir string) (layout.Layout, settings.Settings, error) {
	l, err := layout.New(dir)
	if err != nil {
		return l, settings.Settings{}, err
	}
	if err := l.Create(); err != nil {
		return l, settings.Settings{}, err
	}
	noPods := func(func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
		return netip.MustParsePrefix("127.0.0.1/32"), nil
	}
	s, _, err := settings.Ensure(l.Settings(), nil, noPods)
	if err != nil {
		return l, s, err
	}
	if err := component.WriteAuditPolicy(l); err != nil {
		return l, s, err
	}
	_, err = pki.Create(l, component.NodeName, component.FirstServiceIP)
	return l, s, err
}

func startProcess(l layout.Layout, c component.Component) (stop func(), err error) {
	binary, err := labtest.Binary()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary)
	cmd.Args = append([]string{c.Name}, c.Args...)
	cmd.Dir = l.Root()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	}, nil
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func list(all []time.Duration) string {
	texts := make([]string, len(all))
	for i, d := range all {
		texts[i] = fmt.Sprintf("%.2f", d.Seconds())
	}
	return strings.Join(texts, ", ")
}
