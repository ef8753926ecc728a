package image

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Options are what Make has to know.
type Options struct {
	PostgreSQL PostgreSQL
	Agent      string // the package of the agent
	Output     string // the archive
	Tag        Version
}

// Version is the one that an image has in its name.
type Version int

// The versions. An operator replaces its pods only if the name of its image changes, as it does
// with the minor one.
const (
	Major Version = iota // such as 17
	Minor                // such as 17.6
)

// Made is what Make made.
type Made struct {
	Name     string // what pods call the image
	Digest   v1.Hash
	Licences Licences
}

// Make writes the image of a member, as an OCI archive.
func Make(ctx context.Context, o Options) (Made, error) {
	if err := os.MkdirAll(filepath.Dir(o.Output), 0o777); err != nil {
		return Made{}, fmt.Errorf("making the folder of the archive: %w; choose another with --output", err)
	}
	work, err := os.MkdirTemp("", "image-")
	if err != nil {
		return Made{}, err
	}
	defer os.RemoveAll(work)
	agent := files{agentPath: {source: filepath.Join(work, "agent"), mode: 0o555}}
	if err := compileAgent(ctx, o.Agent, agent[agentPath].source); err != nil {
		return Made{}, err
	}

	p := o.PostgreSQL
	system, err := p.files(ctx)
	if err != nil {
		return Made{}, err
	}
	made := Made{Name: p.name(o.Tag)}
	if made.Licences, err = p.addLicences(ctx, system, o.Agent); err != nil {
		return Made{}, fmt.Errorf("collecting the licences: %w", err)
	}
	var layers []v1.Layer
	for _, all := range []files{system, agent} {
		one, err := layer(all)
		if err != nil {
			return Made{}, err
		}
		layers = append(layers, one)
	}
	image, err := p.newImage(layers...)
	if err != nil {
		return Made{}, fmt.Errorf("making the image: %w", err)
	}
	if made.Digest, err = image.Digest(); err != nil {
		return Made{}, err
	}
	return made, writeArchive(o.Output, made.Name, image)
}
