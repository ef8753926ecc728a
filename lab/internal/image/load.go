package image

import (
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Load unpacks the image in a docker or OCI archive and returns its names.
// Loading twice is harmless; a name moves to the image that was loaded last.
func (s *Store) Load(archive string) ([]string, error) {
	names, err := s.load(archive)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", archive, err)
	}
	return names, nil
}

func (s *Store) load(archive string) ([]string, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	work, err := os.MkdirTemp(s.dir, "loading-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)

	found, err := open(archive, filepath.Join(work, "layout"))
	if err != nil {
		return nil, err
	}
	if err := runsHere(found.image); err != nil {
		return nil, err
	}
	digest, err := found.image.ConfigName()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, digest.Algorithm+"-"+digest.Hex)
	if _, err := os.Stat(filepath.Join(dir, recordFile)); err != nil {
		if err := unpack(found.image, digest, filepath.Join(work, "image"), dir); err != nil {
			return nil, err
		}
	}
	return found.names, s.name(digest.String(), found.names, found.digests)
}

// unpack writes the image to temp and, when all is there, moves it to dir.
func unpack(image v1.Image, digest v1.Hash, temp, dir string) error {
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	rootfs := filepath.Join(temp, rootfsDir)
	if err := os.MkdirAll(rootfs, 0o755); err != nil {
		return err
	}
	files := mutate.Extract(image)
	defer files.Close()
	size, err := extract(files, rootfs)
	if err != nil {
		return fmt.Errorf("unpacking the image's files: %w", err)
	}
	c := config.Config
	err = write(temp, record{
		ID:   digest.String(),
		Size: max(size, 1),
		Config: Config{
			Entrypoint: c.Entrypoint, Cmd: c.Cmd, Env: c.Env,
			WorkingDir: c.WorkingDir, User: c.User, StopSignal: c.StopSignal,
		},
	})
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // what a kill left behind
		return err
	}
	return os.Rename(temp, dir)
}
