package image

import (
	"fmt"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Annotations that name an image in an index, the more exact one first.
var nameAnnotations = []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}

// found is the outcome of a search through an index.
type found struct {
	image     v1.Image
	names     []string
	digests   []string // of the image, and of the list of images that it is in
	platforms []string // of the images that do not run here
}

func (f found) others() string {
	if len(f.platforms) == 0 {
		return "none at all"
	}
	return strings.Join(f.platforms, ", ")
}

// search looks for the image of this machine's platform, through indexes within
// indexes. The names and the digests are those on the way to it.
func search(index v1.ImageIndex, names []string) (found, error) {
	var all found
	manifest, err := index.IndexManifest()
	if err != nil {
		return all, err
	}
	for _, entry := range manifest.Manifests {
		named := names
		for _, key := range nameAnnotations {
			if n := entry.Annotations[key]; n != "" {
				named = append([]string{n}, names...)
				break
			}
		}
		one, err := look(index, entry, named)
		if err != nil {
			return all, err
		}
		if one.image != nil {
			one.digests = append(one.digests, entry.Digest.String())
			return one, nil
		}
		all.platforms = append(all.platforms, one.platforms...)
	}
	return all, nil
}

// look looks at one entry of an index.
func look(index v1.ImageIndex, entry v1.Descriptor, names []string) (found, error) {
	switch {
	case entry.MediaType.IsIndex():
		nested, err := index.ImageIndex(entry.Digest)
		if err != nil {
			return found{}, err
		}
		return search(nested, names)
	case !entry.MediaType.IsImage():
		return found{}, nil
	}
	// An archive saved for one platform may lack the other images' files: believe
	// the index before opening anything.
	if p := entry.Platform; p != nil && !fits(p.OS, p.Architecture) {
		return found{platforms: []string{p.OS + "/" + p.Architecture}}, nil
	}
	image, err := index.Image(entry.Digest)
	if err != nil {
		return found{}, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return found{}, err
	}
	if !fits(config.OS, config.Architecture) {
		return found{platforms: []string{config.OS + "/" + config.Architecture}}, nil
	}
	return found{image: image, names: names}, nil
}

// fits reports whether programs for this platform run here. Containers are
// processes of this machine: there is no emulation.
func fits(os, arch string) bool {
	return (os == runtime.GOOS || os == "") && (arch == runtime.GOARCH || arch == "")
}

// runsHere refuses an image for another platform.
func runsHere(image v1.Image) error {
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	if !fits(config.OS, config.Architecture) {
		return fmt.Errorf("the image is for %s/%s, but this machine is %s/%s (build or save it for this platform)",
			config.OS, config.Architecture, runtime.GOOS, runtime.GOARCH)
	}
	return nil
}
