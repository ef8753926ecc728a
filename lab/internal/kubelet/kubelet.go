// Package kubelet runs the real kubelet with a runtime whose containers are
// processes of this machine.
//
// The kubelet takes its surroundings as a set of dependencies. Most of ours are
// the real ones. What would need root, cgroups or mounts is replaced, and each
// replacement is a file of this package. The upstream project does the same in
// kubemark, to simulate large clusters.
package kubelet

import (
	"context"
	"fmt"

	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/lifeline"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// Run runs the kubelet until ctx ends. Its containers go on running: they end
// with the lab, by the lifeline that the runtime hands on to them.
func Run(ctx context.Context, l layout.Layout, line lifeline.Files) error {
	s, err := settings.Load(l.Settings())
	if err != nil {
		return err
	}
	service, err := startRuntime(ctx, l, s, line)
	if err != nil {
		return err
	}
	defer func() { _ = service.Close(ctx) }()
	deps, err := dependencies(l, service)
	if err != nil {
		return err
	}
	if err := component.SetAsideBrokenCheckpoints(l); err != nil {
		return err
	}
	server, err := configuration(l, s)
	if err != nil {
		return err
	}
	if err := secure(ctx, server, deps); err != nil {
		return err
	}
	doWithoutKernelLog()
	if err := kubeletapp.RunKubelet(ctx, server, deps); err != nil {
		return fmt.Errorf("running the kubelet: %w", err)
	}
	return serveHealth(ctx, s.Address(settings.KubeletHealth))
}
