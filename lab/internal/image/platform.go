package image

import (
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// entry is what an archive has under one name, or one list of names: an image, or a list of
// what is the same image for several platforms.
type entry struct {
	names     []string
	tags      []string // given in place of a name
	image     v1.Image // the one that runs here, nil if there is none
	digests   []string // of the image, and of the lists that it is in
	platforms []string // of the images that do not run here
}

// Annotations that name an image in an index. The second one is a name to some programs, and no
// more than a tag to others.
const (
	nameAnnotation = "io.containerd.image.name"
	refAnnotation  = "org.opencontainers.image.ref.name"
	// aboutAnnotation is on a statement about an image: of how it was built, for instance.
	aboutAnnotation = "vnd.docker.reference.type"
)

// look looks for the image of this machine's platform in an entry of an index, through indexes
// within indexes.
func look(dir string, index v1.ImageIndex, descriptor v1.Descriptor) (entry, error) {
	one := named(descriptor.Annotations)
	err := checkBlob(dir, descriptor.Digest)
	switch {
	case err != nil:
	case descriptor.Annotations[aboutAnnotation] != "":
		return entry{}, nil
	case descriptor.MediaType.IsIndex():
		err = one.search(dir, index, descriptor)
	case descriptor.MediaType.IsImage():
		err = one.open(dir, index, descriptor)
	}
	if one.image != nil {
		one.digests = append(one.digests, descriptor.Digest.String())
	}
	return one, err
}

func named(annotations map[string]string) (one entry) {
	name, ref := annotations[nameAnnotation], annotations[refAnnotation]
	switch {
	case name != "":
		one.names = []string{name}
	case strings.ContainsAny(ref, "/:@"):
		one.names = []string{ref}
	case ref != "":
		one.tags = []string{ref}
	}
	return one
}

// search takes the first image of a list that runs here.
func (e *entry) search(dir string, index v1.ImageIndex, descriptor v1.Descriptor) error {
	nested, err := index.ImageIndex(descriptor.Digest)
	if err != nil {
		return err
	}
	manifest, err := nested.IndexManifest()
	if err != nil {
		return err
	}
	for _, child := range manifest.Manifests {
		one, err := look(dir, nested, child)
		if err != nil {
			return err
		}
		if one.image != nil {
			e.names, e.tags = append(one.names, e.names...), append(one.tags, e.tags...)
			e.image, e.digests = one.image, one.digests
			return nil
		}
		e.platforms = append(e.platforms, one.platforms...)
	}
	return nil
}

// open opens an image, if it runs here.
func (e *entry) open(dir string, index v1.ImageIndex, descriptor v1.Descriptor) error {
	// An archive saved for one platform may lack the other images' files: believe
	// the index before opening anything.
	if p := descriptor.Platform; p != nil && !fits(p.OS, p.Architecture) {
		e.platforms = []string{p.OS + "/" + p.Architecture}
		return nil
	}
	image, err := index.Image(descriptor.Digest)
	if err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil || !manifest.Config.MediaType.IsConfig() { // a chart, or what else a registry may hold
		return err
	}
	if err := checkBlob(dir, manifest.Config.Digest); err != nil {
		return err
	}
	return e.add(image)
}

// add takes an image, if it runs here.
func (e *entry) add(image v1.Image) error {
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	if fits(config.OS, config.Architecture) {
		e.image = image
	} else {
		e.platforms = []string{config.OS + "/" + config.Architecture}
	}
	return nil
}

// fits reports whether programs for this platform run here. Containers are
// processes of this machine: there is no emulation.
func fits(os, arch string) bool {
	return (os == runtime.GOOS || os == "") && (arch == runtime.GOARCH || arch == "")
}
