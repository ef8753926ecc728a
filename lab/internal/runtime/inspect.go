package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/logs"

	"example.com/hacking-a-controller/lab/internal/jsonfile"
	"example.com/hacking-a-controller/lab/internal/shim"
)

// The labels by which a kubelet says whose container it is.
const (
	podLabel       = "io.kubernetes.pod.name"
	namespaceLabel = "io.kubernetes.pod.namespace"
)

// Container is a container as its directory shows it. Other nodes have crictl for that, which
// asks a runtime over a socket; here it works without a kubelet, too.
type Container struct {
	ID                   string
	Namespace, Pod, Name string
	// Image is what the pod names.
	Image string
	// Attempt counts the containers before this one in the same place.
	Attempt int
	Created time.Time
	// PID is that of its main process, or 0 if it does not run.
	PID int
	// Exit is how it ended, or nil.
	Exit *shim.Exit
	// LogPath is its log, in the format of the CRI.
	LogPath string

	own *container
}

// Running reports whether its process runs.
func (c Container) Running() bool { return c.PID != 0 }

// Containers reads what a kubelet with this root directory has made and not yet removed, the
// newest first.
func Containers(root string) ([]Container, error) {
	dirs, err := os.ReadDir(filepath.Join(root, "containers"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the containers: %w", err)
	}
	var all []Container
	for _, dir := range dirs {
		c, err := inspect(filepath.Join(root, "containers", dir.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being made, or removed
		}
		if err != nil {
			return nil, fmt.Errorf("reading the containers: %w", err)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Container) int { return b.Created.Compare(a.Created) })
	return all, nil
}

func inspect(dir string) (Container, error) {
	config := &runtimeapi.ContainerConfig{}
	record := containerRecord{Config: protoJSON{config}}
	if err := jsonfile.Read(filepath.Join(dir, containerFile), &record); err != nil {
		return Container{}, err
	}
	c := Container{
		ID:        record.ID,
		Namespace: config.Labels[namespaceLabel],
		Pod:       config.Labels[podLabel],
		Name:      config.GetMetadata().GetName(),
		Image:     record.ImageName,
		Attempt:   int(config.GetMetadata().GetAttempt()),
		Created:   record.CreatedAt,
		LogPath:   record.LogPath,
		own:       newContainer(dir, record, config),
	}
	if exit, err := shim.ReadFile[shim.Exit](dir, shim.ExitFile); err == nil {
		c.Exit = exit
	} else if started, err := shim.ReadFile[shim.Started](dir, shim.StartedFile); err == nil && c.own.alive() {
		c.PID = started.PID
	}
	return c, nil
}

// Stop asks the container to end and kills it after the grace period. The kubelet sees that it
// has ended, and does what the pod's restartPolicy says.
func (c Container) Stop(ctx context.Context, grace time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if err := waitGone(ctx, filepath.Join(c.own.dir, shim.LifeFIFO)); err == nil || errors.Is(err, fs.ErrNotExist) {
			c.own.setExit(&shim.Exit{})
		}
	}()
	return c.own.stop(ctx, grace)
}

// PrintLog prints what the container has written and, with follow, what it goes on to write, until
// the container or ctx ends.
func (c Container) PrintLog(ctx context.Context, out io.Writer, follow bool) error {
	err := logs.ReadLogs(ctx, c.LogPath, c.ID, &logs.LogOptions{Follow: follow}, onlyStatus{dir: c.own.dir}, out, out)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// onlyStatus is as much of a runtime as it takes to follow a log.
type onlyStatus struct {
	internalapi.RuntimeService
	dir string
}

// ContainerStatus tells whether the container runs.
func (s onlyStatus) ContainerStatus(context.Context, string, bool) (*runtimeapi.ContainerStatusResponse, error) {
	c, err := inspect(s.dir)
	state := runtimeapi.ContainerState_CONTAINER_EXITED
	if c.Running() {
		state = runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{State: state}}, err
}
