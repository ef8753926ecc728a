package image

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Options are what Make has to know.
type Options struct {
	About
	Folder    string   // where the go command is run; empty is here
	Package   string   // the program, as the go command knows it
	Platforms []string // such as linux/amd64
	Output    string   // the archive
}

// Made is what Make made.
type Made struct {
	Name   string // what pods call the image
	Digest v1.Hash
	SBOM   string
}

// Make compiles a program and writes its image, as an OCI archive, and the list
// of what is in it. It tells out how far it is.
func Make(ctx context.Context, o Options, out io.Writer) (Made, error) {
	if err := os.MkdirAll(filepath.Dir(o.Output), 0o777); err != nil {
		return Made{}, fmt.Errorf("making the folder of the archive: %w; choose another with --output", err)
	}
	work, err := os.MkdirTemp("", "image-")
	if err != nil {
		return Made{}, err
	}
	defer os.RemoveAll(work)

	var on []v1.Platform
	for _, text := range o.Platforms {
		platform, err := parsePlatform(text)
		if err != nil {
			return Made{}, err
		}
		on = append(on, platform)
	}
	var images []v1.Image
	var programs []program
	for i, platform := range on {
		path := filepath.Join(work, fmt.Sprint(i))
		if err := compile(ctx, o, platform, path, out); err != nil {
			return Made{}, fmt.Errorf("compiling for %s: %w", platform, err)
		}
		image, err := newImage(o.About, platform, path)
		if err != nil {
			return Made{}, fmt.Errorf("making the image for %s: %w", platform, err)
		}
		program, err := readProgram(path, platform)
		if err != nil {
			// Of a package that is no program, go build makes an archive of object code.
			return Made{}, fmt.Errorf("reading the program for %s: %w; is %s a program? Choose one with --package", platform, err, o.Package)
		}
		images, programs = append(images, image), append(programs, program)
	}

	index, digest, err := indexOf(o.About, images, on)
	if err != nil {
		return Made{}, fmt.Errorf("making the index: %w", err)
	}
	if err := writeArchive(o.Output, index); err != nil {
		return Made{}, fmt.Errorf("writing the archive: %w", err)
	}
	made := Made{Name: o.Name + ":" + o.Version, Digest: digest, SBOM: strings.TrimSuffix(o.Output, ".tar") + ".cdx.json"}
	if err := writeSBOM(made.SBOM, newSBOM(o.About, digest, programs)); err != nil {
		return Made{}, fmt.Errorf("writing the SBOM: %w", err)
	}
	return made, nil
}
