package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/filelock"
	"example.com/hacking-a-controller/lab/internal/jsonfile"
)

// The files of an unpacked image.
const (
	rootfsDir  = "rootfs"
	recordFile = "image.json"
)

// Store is a folder with one directory per loaded image. It keeps nothing in
// memory: `lab load` is another process than the kubelet.
type Store struct {
	// Limit is how many bytes an archive may unpack to, and how many the images in it.
	Limit int64

	dir string
}

// NewStore returns the store in dir, which need not exist yet.
func NewStore(dir string) *Store { return &Store{Limit: DefaultLimit, dir: dir} }

// Dir is where the store keeps its files.
func (s *Store) Dir() string { return s.dir }

// UnknownError says that an image is not in the store.
type UnknownError struct {
	Ref   string
	Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("image %q is not in the lab: it knows %s; load others with: lab load IMAGE.tar", e.Ref, strings.Join(e.Known, ", "))
}

// Find returns the image with this reference or ID, or an *UnknownError. What
// was loaded comes before what is built in.
func (s *Store) Find(ref string) (Image, error) {
	loaded, err := s.loaded()
	if err != nil {
		return Image{}, err
	}
	want, parseErr := name.ParseReference(ref)
	for _, image := range loaded {
		if image.ID == ref || parseErr == nil && image.is(want) {
			return image, nil
		}
	}
	if image, ok := builtin(ref); ok {
		return image, nil
	}
	unknown := &UnknownError{Ref: ref}
	_, byDigest := want.(name.Digest)
	for _, image := range sorted(loaded) {
		if image.Program != "" && !strings.Contains(ref, image.Program) {
			continue // a part of the control plane is what few look for
		}
		if digests := image.RepoDigests(); byDigest && len(digests) > 0 {
			unknown.Known = append(unknown.Known, digests...)
			continue
		}
		unknown.Known = append(unknown.Known, image.Names...)
	}
	return Image{}, unknown
}

// List returns all images, the built-in ones first.
func (s *Store) List() ([]Image, error) {
	loaded, err := s.loaded()
	if err != nil {
		return nil, err
	}
	return sorted(loaded), nil
}

// sorted puts the built-in images in front of the loaded ones.
func sorted(loaded []Image) (all []Image) {
	for _, image := range builtins {
		all = append(all, image)
	}
	slices.SortFunc(all, func(a, b Image) int { return strings.Compare(a.ID, b.ID) })
	return append(all, loaded...)
}

// Remove deletes a loaded image. To remove what is not there, or is built in,
// does nothing.
func (s *Store) Remove(ctx context.Context, ref string) error {
	image, err := s.Find(ref)
	if unknown := (*UnknownError)(nil); errors.As(err, &unknown) || err == nil && image.Builtin {
		return nil
	}
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(image.dir)
}

// loaded reads the records of all loaded images. A broken one costs only its image.
func (s *Store) loaded() (images []Image, err error) {
	paths, err := filepath.Glob(filepath.Join(escape(s.dir), "sha256-*", recordFile))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		image := Image{dir: filepath.Dir(path)}
		err := jsonfile.Read(path, &image)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if broken, ok := errors.AsType[*atomicfile.BrokenError](err); ok {
			sentence, err := broken.SetAside("its image has to be loaded again (lab load IMAGE.tar)")
			if err == nil {
				slog.Warn(sentence)
			} else if !errors.Is(err, fs.ErrNotExist) { // else another process was faster
				slog.Warn("an image cannot be used", "err", err)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	return images, nil
}

// escape makes a path safe for Glob.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// name gives an image its names and digests, and takes the names from all others.
func (s *Store) name(id string, names, digests []string) error {
	images, err := s.loaded()
	if err != nil {
		return err
	}
	for _, image := range images {
		had, hadDigests := slices.Clone(image.Names), slices.Clone(image.Digests)
		image.Names = without(image.Names, names)
		if image.ID == id {
			image.Names = append(image.Names, names...)
			image.Digests = append(without(image.Digests, digests), digests...)
		}
		if slices.Equal(had, image.Names) && slices.Equal(hadDigests, image.Digests) {
			continue
		}
		if err := image.write(); err != nil {
			return err
		}
	}
	return nil
}

func without(all, some []string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return slices.Contains(some, s) })
}

func (i Image) write() error {
	return jsonfile.Write(filepath.Join(i.dir, recordFile), i)
}

// lock lets writers take turns, until ctx ends.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := filelock.Lock(ctx, filepath.Join(s.dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("another command is at work on the images: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
