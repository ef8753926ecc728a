package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/image"
	"example.com/hacking-a-controller/lab/internal/shim"
)

// CreateContainer makes the directory of a container.
func (s *Service) CreateContainer(_ context.Context, sandboxID string, config *runtimeapi.ContainerConfig, _ *runtimeapi.PodSandboxConfig) (string, error) {
	b, err := s.sandbox(sandboxID)
	if err != nil {
		return "", err
	}
	img, err := s.options.Images.Find(config.GetImage().GetImage())
	if err != nil {
		return "", err
	}
	id := newID()
	c := newContainer(filepath.Join(s.options.Root, "containers", id), containerRecord{
		ID:        id,
		SandboxID: sandboxID,
		CreatedAt: time.Now(),
		ImageID:   img.ID,
		ImageRef:  img.Reference(),
		ImageName: cmp.Or(config.GetImage().GetUserSpecifiedImage(), config.GetImage().GetImage()), // which the pod's status shows
		Isolation: s.isolation,
		Config:    protoJSON{config},
	}, config)
	if err := s.fill(c, b, img); err != nil {
		return "", errors.Join(fmt.Errorf("creating container %s: %w", config.GetMetadata().GetName(), err), os.RemoveAll(c.dir))
	}
	s.mu.Lock()
	s.containers[id] = c
	s.mu.Unlock()
	return id, nil
}

// fill writes all that the shim will need. The record comes last: with it, the
// container exists.
func (s *Service) fill(c *container, b *sandbox, img image.Image) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := img.CopyTo(filepath.Join(c.dir, shim.RootDir)); err != nil {
		return fmt.Errorf("copying the image's files: %w", err)
	}
	var err error
	if c.record.User, err = s.user(c.config, img); err != nil {
		return err
	}
	c.record.StopSignal = stopSignal(c.config, img)
	c.record.LogPath = logPath(c, b)
	if err := os.MkdirAll(filepath.Dir(c.record.LogPath), 0o755); err != nil {
		return err
	}
	spec, err := s.spec(c, b, img)
	if err != nil {
		return err
	}
	fifos := []string{shim.ControlFIFO, shim.LifeFIFO}
	if spec.Stdin {
		fifos = append(fifos, shim.StdinFIFO)
	}
	for _, name := range fifos {
		if err := syscall.Mkfifo(filepath.Join(c.dir, name), 0o600); err != nil {
			return fmt.Errorf("making the FIFO %s: %w", name, err)
		}
	}
	if err := shim.WriteFile(c.dir, shim.SpecFile, spec); err != nil {
		return err
	}
	return shim.WriteFile(c.dir, containerFile, c.record)
}

func logPath(c *container, b *sandbox) string {
	if c.config.LogPath == "" {
		return filepath.Join(c.dir, "log")
	}
	return filepath.Join(b.config.LogDirectory, c.config.LogPath)
}

// spec says what the shim is to run.
func (s *Service) spec(c *container, b *sandbox, img image.Image) (*shim.Spec, error) {
	security := c.config.GetLinux().GetSecurityContext()
	spec := &shim.Spec{
		Args:            command(c.config, img),
		Cwd:             cmp.Or(c.config.WorkingDir, img.Config.WorkingDir, "/"),
		Hostname:        b.config.Hostname,
		LogPath:         c.record.LogPath,
		Terminal:        c.config.Tty,
		Stdin:           c.config.Stdin,
		StdinOnce:       c.config.StdinOnce,
		NoNewPrivileges: security.GetNoNewPrivs(),
		View:            c.record.Isolation != noIsolation,
		HostFiles:       img.Builtin,
		ReadOnlyRoot:    security.GetReadonlyRootfs() && !img.Builtin,
		Pause:           img.Pause && len(c.config.Command) == 0,
	}
	if img.Builtin {
		spec.Shell = shell()
		spec.Self = img.Program != "" && spec.Args[0] == img.Program
	}
	if os.Geteuid() == 0 && spec.View { // without one, another user could not reach its files
		spec.User = c.record.User // in a user namespace, the mapping does it
	}
	for _, m := range c.config.Mounts {
		if m.GetImage().GetImage() != "" {
			return nil, errors.New("the lab has no image volumes (use a configMap or an emptyDir)")
		}
		spec.Mounts = append(spec.Mounts, shim.Mount{Source: m.HostPath, Target: m.ContainerPath, ReadOnly: m.Readonly})
	}
	spec.Env = s.env(c, b, img)
	rootfs := filepath.Join(c.dir, shim.RootDir)
	if spec.View {
		if !img.Builtin {
			if err := makeWorkingDir(rootfs, spec.Cwd); err != nil {
				return nil, err
			}
		}
		return spec, nil
	}
	return spec, s.useHostFiles(c, spec, rootfs, img)
}

// command combines the pod's command and arguments with the image's, as
// Kubernetes defines it.
func command(config *runtimeapi.ContainerConfig, img image.Image) []string {
	if len(config.Command) > 0 {
		return slices.Concat(config.Command, config.Args)
	}
	args := config.Args
	if len(args) == 0 {
		args = img.Config.Cmd
	}
	all := slices.Concat(img.Config.Entrypoint, args)
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// makeWorkingDir makes the working directory, which an image may only name.
func makeWorkingDir(rootfs, dir string) error {
	resolved, err := shim.Resolve(rootfs, dir)
	if err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(rootfs, resolved), 0o755)
}
