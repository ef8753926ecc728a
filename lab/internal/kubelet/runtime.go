package kubelet

import (
	"context"
	"fmt"

	"example.com/hacking-a-controller/lab/internal/cluster"
	"example.com/hacking-a-controller/lab/internal/image"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/lifeline"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/podnet"
	"example.com/hacking-a-controller/lab/internal/runtime"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// startRuntime makes the container runtime. It lives in the kubelet's process,
// where others have containerd or CRI-O at the other end of a socket.
func startRuntime(ctx context.Context, l layout.Layout, s settings.Settings, line lifeline.Files) (*runtime.Service, error) {
	if err := podnet.Setup(s.PodCIDR); err != nil {
		return nil, fmt.Errorf("preparing addresses for pods: %w", err)
	}
	service, err := runtime.New(ctx, runtime.Options{
		Root:      l.Runtime(),
		Images:    image.NewStore(l.Images()),
		Pool:      podnet.NewPool(s.PodCIDR),
		NodeIP:    cluster.NodeIP,
		APIServer: s.Address(settings.APIServer),
		CAFile:    l.Cert(pki.CA),
		Lifeline:  line.Pipe,
		Alive:     line.Alive,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the container runtime: %w", err)
	}
	return service, nil
}
