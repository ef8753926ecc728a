package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/jsonfile"
	"example.com/hacking-a-controller/lab/internal/shim"
)

const (
	sandboxFile   = "sandbox.json"
	containerFile = "container.json"
)

// protoJSON is a message of the CRI within a JSON file.
type protoJSON struct {
	proto.Message
}

func (p protoJSON) MarshalJSON() ([]byte, error) { return protojson.Marshal(p.Message) }

func (p *protoJSON) UnmarshalJSON(data []byte) error {
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, p.Message)
}

// load takes over what a Service before this one left in the same directory. What
// has a broken record is stopped and left where it is, so that you can look at it.
func (s *Service) load(ctx context.Context) error {
	for _, dir := range []string{"sandboxes", "containers"} {
		if err := os.MkdirAll(filepath.Join(s.options.Root, dir), 0o700); err != nil {
			return err
		}
	}
	if err := s.each("sandboxes", sandboxFile, s.loadSandbox); err != nil {
		return err
	}
	if err := s.each("containers", containerFile, s.loadContainer); err != nil {
		return err
	}
	s.stopOrphans(ctx)
	return nil
}

// stopOrphans ends the containers of pods that are lost: another pod may get the
// address. The kubelet sees containers that were killed, and goes on from there.
func (s *Service) stopOrphans(ctx context.Context) {
	for _, c := range s.allContainers() {
		if _, err := s.sandbox(c.record.SandboxID); err == nil {
			continue
		}
		if err := s.stop(ctx, c, 0); err != nil {
			slog.Error("stopping a container whose pod is lost", "err", err)
		}
	}
}

// each calls f for each directory. One without a record was being made, or
// removed, when the kubelet was killed. One whose record was set aside stays as it is.
func (s *Service) each(kind, record string, f func(dir string) error) error {
	entries, err := os.ReadDir(filepath.Join(s.options.Root, kind))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(s.options.Root, kind, entry.Name())
		if _, err := os.Lstat(atomicfile.Aside(filepath.Join(dir, record))); err == nil {
			continue
		}
		err := f(dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.RemoveAll(dir)
		}
		if err != nil {
			return fmt.Errorf("%s (to start afresh: lab reset): %w", dir, err)
		}
	}
	return nil
}

func (s *Service) loadSandbox(dir string) error {
	b := &sandbox{dir: dir, config: &runtimeapi.PodSandboxConfig{}}
	b.record.Config.Message = b.config
	err := jsonfile.Read(filepath.Join(dir, sandboxFile), &b.record)
	if broken, ok := errors.AsType[*atomicfile.BrokenError](err); ok {
		return setAside(broken, "the pod's address is lost, so what runs of its containers is killed (exit code 137)")
	}
	if err != nil {
		return err
	}
	switch ip := b.record.IP; {
	case !ip.IsValid() || b.record.Stopped:
	case s.options.Pool.Contains(ip):
		s.options.Pool.Reserve(ip)
	default: // another lab has its addresses now, and all of its containers have ended: the kubelet makes it again
		b.record.Stopped = true
		if err := shim.WriteFile(dir, sandboxFile, b.record); err != nil {
			return err
		}
	}
	s.sandboxes[b.record.ID] = b
	return nil
}

func (s *Service) loadContainer(dir string) error {
	config := &runtimeapi.ContainerConfig{}
	record := containerRecord{Config: protoJSON{config}}
	err := jsonfile.Read(filepath.Join(dir, containerFile), &record)
	if broken, ok := errors.AsType[*atomicfile.BrokenError](err); ok {
		newContainer(dir, containerRecord{ID: filepath.Base(dir)}, config).kill(s.ctx)
		return setAside(broken, "what runs of the container is killed, and how it ended is not known")
	}
	if err != nil {
		return err
	}
	c := newContainer(dir, record, config)
	s.containers[record.ID] = c

	started, err := shim.ReadFile[shim.Started](dir, shim.StartedFile)
	if broken, ok := errors.AsType[*atomicfile.BrokenError](err); ok {
		started = &shim.Started{At: record.CreatedAt}
		if err = setAside(broken, "when the container was started is not known"); err == nil {
			err = shim.WriteFile(dir, shim.StartedFile, started)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if started == nil && !c.alive() {
		if _, err := os.Stat(filepath.Join(dir, shim.ExitFile)); err == nil {
			c.finish(-1) // it could not be started
		}
		return nil
	}
	if started == nil { // the kubelet was killed while it started this one
		started = &shim.Started{At: record.CreatedAt}
	}
	c.started = started
	if c.alive() {
		s.watch(c, nil)
	} else {
		c.finish(-1)
	}
	return nil
}

// setAside gets a broken record out of the way.
func setAside(broken *atomicfile.BrokenError, loss string) error {
	sentence, err := broken.SetAside(loss)
	if err != nil {
		return err
	}
	slog.Warn(sentence)
	return nil
}

// kill ends a container of which nothing is known but its directory, and its shim.
func (c *container) kill(ctx context.Context) {
	if c.tell("signal %d", int(syscall.SIGKILL)) == nil {
		ctx, cancel := context.WithTimeout(ctx, killPatience)
		defer cancel()
		_ = waitGone(ctx, filepath.Join(c.dir, shim.LifeFIFO))
	}
	killMarked(c.record.ID)
}
