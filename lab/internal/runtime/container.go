package runtime

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// container is one container, running or not.
type container struct {
	dir    string
	config *runtimeapi.ContainerConfig
	record containerRecord
	begun  chan struct{} // closed when its start is over, or there will be none
	done   chan struct{} // closed when it has exited

	mu       sync.Mutex
	starting bool
	started  *shim.Started
	exit     *shim.Exit
}

// containerRecord is what container.json holds. It does not change.
type containerRecord struct {
	ID         string
	SandboxID  string
	CreatedAt  time.Time
	ImageID    string
	ImageRef   string
	ImageName  string
	LogPath    string
	User       *shim.User
	Isolation  isolation // decided once: the next kubelet's probe may find another
	StopSignal string
	Config     protoJSON
}

func newContainer(dir string, record containerRecord, config *runtimeapi.ContainerConfig) *container {
	return &container{dir: dir, record: record, config: config, begun: make(chan struct{}), done: make(chan struct{})}
}

func (c *container) state() runtimeapi.ContainerState {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.exit != nil:
		return runtimeapi.ContainerState_CONTAINER_EXITED
	case c.started != nil:
		return runtimeapi.ContainerState_CONTAINER_RUNNING
	default:
		return runtimeapi.ContainerState_CONTAINER_CREATED
	}
}

// setExit records the end, once.
func (c *container) setExit(e *shim.Exit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exit == nil {
		c.exit = e
		close(c.done)
	}
}

// watch waits for the end of a running container. cmd is its shim, if that is a
// child of this process and not of a kubelet before.
func (s *Service) watch(c *container, cmd *exec.Cmd) {
	s.tasks.Go(func() {
		if waitGone(s.ctx, filepath.Join(c.dir, shim.LifeFIFO)) != nil && s.ctx.Err() != nil {
			return // the container outlives this kubelet
		}
		code := -1
		if cmd != nil {
			_ = cmd.Wait() // it is gone: this takes it off the process table
			code = cmd.ProcessState.ExitCode()
		}
		c.finish(code)
	})
}

// finish learns how a container ended whose shim is gone. code is the exit code of
// the shim, which is that of the container, or -1 if the shim was killed or is not
// our child. A shim that was killed may have left processes.
func (c *container) finish(code int) {
	e, err := shim.ReadFile[shim.Exit](c.dir, shim.ExitFile)
	if err != nil {
		killMarked(c.record.ID)
		e = unrecorded(code, err)
		_ = shim.WriteFile(c.dir, shim.ExitFile, e) // else the same is found out again
	}
	c.setExit(e)
}

// unrecorded is the end of a container of which err says why there is no record.
func unrecorded(code int, err error) *shim.Exit {
	e := &shim.Exit{Code: code, At: time.Now(), Reason: "Completed", Message: "the exit code could not be recorded (is the disk full?)"}
	switch {
	case code > 0:
		e.Reason = "Error"
	case code < 0:
		e.Code, e.Reason, e.Message = 137, "ShimKilled", "the container's parent process was killed, and the container with it"
	}
	if !errors.Is(err, fs.ErrNotExist) {
		e.Message = err.Error()
	}
	return e
}

// ContainerStatus describes one container.
func (s *Service) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	c, err := s.container(id)
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ContainerStatusResponse{Status: c.status()}, nil
}

func (c *container) status() *runtimeapi.ContainerStatus {
	state := c.state()
	c.mu.Lock()
	defer c.mu.Unlock()
	st := &runtimeapi.ContainerStatus{
		Id:          c.record.ID,
		Metadata:    c.config.Metadata,
		State:       state,
		CreatedAt:   c.record.CreatedAt.UnixNano(),
		Image:       &runtimeapi.ImageSpec{Image: c.record.ImageName},
		ImageRef:    c.record.ImageRef,
		ImageId:     c.record.ImageID,
		Labels:      c.config.Labels,
		Annotations: c.config.Annotations,
		Mounts:      c.config.Mounts,
		LogPath:     c.record.LogPath,
		StopSignal:  c.config.StopSignal,
	}
	if u := c.record.User; u != nil {
		st.User = &runtimeapi.ContainerUser{Linux: &runtimeapi.LinuxContainerUser{Uid: int64(u.UID), Gid: int64(u.GID)}}
		for _, g := range u.Groups {
			st.User.Linux.SupplementalGroups = append(st.User.Linux.SupplementalGroups, int64(g))
		}
	}
	if c.started != nil {
		st.StartedAt = c.started.At.UnixNano()
	}
	if c.exit != nil {
		st.FinishedAt = c.exit.At.UnixNano()
		st.ExitCode = int32(c.exit.Code)
		st.Reason = c.exit.Reason
		st.Message = c.exit.Message
	}
	return st
}

// ListContainers lists the newest first.
func (s *Service) ListContainers(_ context.Context, filter *runtimeapi.ContainerFilter) ([]*runtimeapi.Container, error) {
	var list []*runtimeapi.Container
	for _, c := range s.allContainers() {
		state := c.state()
		if f := filter; f != nil && (f.Id != "" && f.Id != c.record.ID || f.State != nil && f.State.State != state ||
			f.PodSandboxId != "" && f.PodSandboxId != c.record.SandboxID || !matches(c.config.Labels, f.LabelSelector)) {
			continue
		}
		list = append(list, &runtimeapi.Container{
			Id: c.record.ID, PodSandboxId: c.record.SandboxID, Metadata: c.config.Metadata,
			Image: &runtimeapi.ImageSpec{Image: c.record.ImageName}, ImageRef: c.record.ImageRef, ImageId: c.record.ImageID,
			State: state, CreatedAt: c.record.CreatedAt.UnixNano(), Labels: c.config.Labels, Annotations: c.config.Annotations,
		})
	}
	slices.SortFunc(list, func(a, b *runtimeapi.Container) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return list, nil
}

func (s *Service) container(id string) (*container, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.containers[id]; ok {
		return c, nil
	}
	return nil, notFound("container", id)
}

func (s *Service) allContainers() (all []*container) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.containers {
		all = append(all, c)
	}
	return all
}

func (s *Service) containersOf(sandboxID string) []*container {
	return slices.DeleteFunc(s.allContainers(), func(c *container) bool { return c.record.SandboxID != sandboxID })
}
