package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Loaded is what came of an archive.
type Loaded struct {
	// Names are those of the images that are now in the store.
	Names []string
	// LeftOut has a sentence for each part of the archive that is not.
	LeftOut []string
}

// Load unpacks the images in a docker or OCI archive, all that run here, until ctx ends.
// Loading twice is harmless; a name moves to the image that was loaded last.
func (s *Store) Load(ctx context.Context, archive string) (Loaded, error) {
	loaded, err := s.load(ctx, archive)
	if err != nil {
		return Loaded{}, fmt.Errorf("loading %s: %w", archive, err)
	}
	return loaded, nil
}

func (s *Store) load(ctx context.Context, archive string) (Loaded, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return Loaded{}, err
	}
	defer unlock()
	killed, _ := filepath.Glob(filepath.Join(escape(s.dir), "loading-*")) // nobody else loads now
	for _, left := range killed {
		_ = os.RemoveAll(left)
	}
	work, err := os.MkdirTemp(s.dir, "loading-")
	if err != nil {
		return Loaded{}, err
	}
	defer os.RemoveAll(work)

	entries, err := open(ctx, archive, filepath.Join(work, "archive"), s.quota())
	if err != nil {
		return Loaded{}, err
	}
	images, leftOut, err := choose(entries)
	if err != nil {
		return Loaded{}, err
	}
	if err := s.unpackAll(ctx, images, work); err != nil {
		return Loaded{}, err
	}
	loaded := Loaded{LeftOut: leftOut}
	for _, one := range images {
		id, err := one.image.ConfigName()
		if err == nil {
			err = s.name(id.String(), one.names, one.digests)
		}
		if err != nil {
			return Loaded{}, err
		}
		loaded.Names = append(loaded.Names, one.names...)
	}
	return loaded, nil
}

// unpackAll unpacks what the store doesn't have, by way of the folder work. All is read before
// anything is unpacked, and all is unpacked before anything gets its name: an archive is loaded
// whole, or not at all.
func (s *Store) unpackAll(ctx context.Context, images []entry, work string) error {
	missing := map[v1.Hash]v1.Image{} // one image may have several names
	for _, one := range images {
		id, err := one.image.ConfigName()
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(s.folder(id), recordFile)); err != nil {
			missing[id] = one.image
		}
	}
	readable := s.quota()
	for _, image := range missing {
		if err := checkLayers(ctx, image, readable); err != nil {
			return incomplete(err)
		}
	}
	writable := s.quota()
	for id, image := range missing {
		if err := unpack(ctx, image, id, filepath.Join(work, id.Hex), s.folder(id), writable); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) folder(digest v1.Hash) string {
	return filepath.Join(s.dir, digest.Algorithm+"-"+digest.Hex)
}

// checkLayers reads all layers and compares them with the digests in the image's configuration:
// from a part of a tar file, a part of the files could be unpacked, and nobody would know. It reads
// no more than may be unpacked.
func checkLayers(ctx context.Context, image v1.Image, q *quota) error {
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	if have, want := len(layers), len(config.RootFS.DiffIDs); have != want {
		return fmt.Errorf("the archive has %d layers of an image of %d (save it again, whole)", have, want)
	}
	for i, layer := range layers {
		if err := checkLayer(ctx, layer, config.RootFS.DiffIDs[i], q); err != nil {
			return fmt.Errorf("layer %d of %d: %w", i+1, len(layers), err)
		}
	}
	return nil
}

func checkLayer(ctx context.Context, layer v1.Layer, want v1.Hash, q *quota) error {
	content, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	sum := sha256.New()
	read, err := io.CopyN(sum, interruptible{ctx, content}, q.bytes+1)
	if errors.Is(err, io.EOF) { // as it should be
		err = q.take(read)
	} else if err == nil {
		err = q.tooLarge
	}
	if err := errors.Join(err, content.Close()); err != nil {
		return err
	}
	if have := hex.EncodeToString(sum.Sum(nil)); have != want.Hex {
		kind, _ := layer.MediaType()
		return fmt.Errorf("it is damaged, or its form (%s) is unknown: its digest is %.12s, and has to be %.12s (save the image again)", kind, have, want.Hex)
	}
	return nil
}

// unpack writes the image to temp and, when all is there, moves it to dir.
func unpack(ctx context.Context, image v1.Image, digest v1.Hash, temp, dir string, q *quota) error {
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	rootfs := filepath.Join(temp, rootfsDir)
	if err := errors.Join(os.MkdirAll(rootfs, 0o755), os.Chmod(rootfs, 0o755)); err != nil { // whatever the umask
		return err
	}
	files := mutate.Extract(image)
	defer files.Close()
	size, err := extract(interruptible{ctx, files}, rootfs, q)
	if err != nil {
		return fmt.Errorf("unpacking the image's files: %w", err)
	}
	if err := (Image{ID: digest.String(), Size: max(size, 1), Config: config.Config, dir: temp}).write(); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // what a kill left behind
		return err
	}
	return os.Rename(temp, dir)
}
