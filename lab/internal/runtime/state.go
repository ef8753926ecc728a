package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

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

// load takes over what a Service before this one left in the same directory.
func (s *Service) load() error {
	for _, dir := range []string{"sandboxes", "containers"} {
		if err := os.MkdirAll(filepath.Join(s.options.Root, dir), 0o700); err != nil {
			return err
		}
	}
	if err := s.each("sandboxes", s.loadSandbox); err != nil {
		return err
	}
	return s.each("containers", s.loadContainer)
}

// each calls f for each directory. One without a record was being made, or
// removed, when the kubelet was killed.
func (s *Service) each(kind string, f func(dir string) error) error {
	entries, err := os.ReadDir(filepath.Join(s.options.Root, kind))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(s.options.Root, kind, entry.Name())
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
	if err := jsonfile.Read(filepath.Join(dir, sandboxFile), &b.record); err != nil {
		return err
	}
	if b.record.IP.IsValid() && !b.record.Stopped {
		s.options.Pool.Reserve(b.record.IP)
	}
	s.sandboxes[b.record.ID] = b
	return nil
}

func (s *Service) loadContainer(dir string) error {
	config := &runtimeapi.ContainerConfig{}
	record := containerRecord{Config: protoJSON{config}}
	if err := jsonfile.Read(filepath.Join(dir, containerFile), &record); err != nil {
		return err
	}
	c := newContainer(dir, record, config)
	s.containers[record.ID] = c

	started, err := shim.ReadFile[shim.Started](dir, shim.StartedFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if started == nil && !c.alive() {
		if _, err := os.Stat(filepath.Join(dir, shim.ExitFile)); err == nil {
			c.finish() // it could not be started
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
		c.finish()
	}
	return nil
}
