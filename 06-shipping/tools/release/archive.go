package release

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// archive is what the program image has made: an image, or a list of images for several
// platforms.
type archive struct {
	descriptor v1.Descriptor
	content    remote.Taggable
	version    string
	revision   string // the commit
	platforms  []string
}

// openArchive unpacks an OCI archive into the folder scratch, and reads it.
func openArchive(file, scratch string) (archive, error) {
	if err := unpack(file, scratch); err != nil {
		return archive{}, fmt.Errorf("unpacking %s: %w; make an archive with the program image", file, err)
	}
	a, err := readLayout(scratch)
	if err != nil {
		return archive{}, fmt.Errorf("%s is no archive that the program image has made: %w", file, err)
	}
	return a, nil
}

func readLayout(folder string) (archive, error) {
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return archive{}, errors.New("it has no index.json")
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return archive{}, err
	}
	if len(manifest.Manifests) != 1 {
		return archive{}, fmt.Errorf("its index has %d entries, and not 1", len(manifest.Manifests))
	}
	entry := manifest.Manifests[0]
	// Annotations and platform are of the archive's index, and not of what is pushed.
	a := archive{descriptor: v1.Descriptor{MediaType: entry.MediaType, Size: entry.Size, Digest: entry.Digest}}
	if entry.MediaType.IsImage() {
		image, err := index.Image(entry.Digest)
		if err != nil {
			return archive{}, err
		}
		a.content = image
		return a, a.readConfig(image)
	}
	list, err := index.ImageIndex(entry.Digest)
	if err != nil {
		return archive{}, err
	}
	a.content = list
	platforms, err := list.IndexManifest()
	if err != nil {
		return archive{}, err
	}
	for _, platform := range platforms.Manifests {
		image, err := list.Image(platform.Digest)
		if err == nil {
			err = a.readConfig(image)
		}
		if err != nil {
			return archive{}, err
		}
	}
	return a, nil
}

// readConfig reads what an image says about its build. The images of all platforms say
// the same.
func (a *archive) readConfig(image v1.Image) error {
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	a.version = config.Config.Labels["org.opencontainers.image.version"]
	a.revision = config.Config.Labels["org.opencontainers.image.revision"]
	a.platforms = append(a.platforms, config.Platform().String())
	if a.version == "" || a.revision == "" {
		return errors.New("the image has no labels for its version and its revision")
	}
	return nil
}

// unpack writes the files of a tar file below a folder, and never outside of it.
func unpack(file, folder string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for files := tar.NewReader(in); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(root, header.Name, files); err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	out, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
