package image

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

const (
	// platform is that of this machine, whose PostgreSQL it is.
	platform = runtime.GOOS + "/" + runtime.GOARCH
	// agentPath is the agent in the image.
	agentPath = "/agent"
)

// Options are what Make has to know.
type Options struct {
	PostgreSQL PostgreSQL
	Agent      string // the package of the agent
	Output     string // the archive
	// Minor is whether the image has the minor version in its name, such as 17.6, and not only 17. An
	// operator replaces its pods only if the name of its image changes.
	Minor bool
}

// Made is what Make made.
type Made struct {
	Name     string // what pods call the image
	Digest   v1.Hash
	Size     int64 // of the archive
	Licences Licences
}

// Make writes the image of a member, as an OCI archive.
func Make(ctx context.Context, o Options) (Made, error) {
	archive, err := oci.Create(o.Output)
	if err != nil {
		return Made{}, err
	}
	defer archive.Close()
	agent := filepath.Join(archive.Work, "agent")
	if err := oci.Compile(ctx, platform, o.Agent, agent); err != nil {
		return Made{}, fmt.Errorf("compiling the agent: %w", err)
	}
	p := o.PostgreSQL
	system, err := p.files(ctx)
	if err != nil {
		return Made{}, err
	}
	made := Made{Name: o.name()}
	if made.Licences, err = p.addLicences(ctx, system, o.Agent); err != nil {
		return Made{}, fmt.Errorf("collecting the licences: %w", err)
	}
	made.Digest, made.Size, err = archive.Write(made.Name, p.newImage(system, agent))
	return made, err
}

// name is what pods call the image. Its tag is the version of PostgreSQL.
func (o Options) name() string {
	if o.Minor {
		return "postgres-member:" + o.PostgreSQL.Version
	}
	return "postgres-member:" + strconv.Itoa(o.PostgreSQL.Major)
}

// newImage is an image that runs the agent, which finds PostgreSQL's programs in its PATH.
// Only the second of its layers is another one when the agent has changed.
func (p PostgreSQL) newImage(system files, agent string) oci.Image {
	return oci.Image{
		Platform: platform,
		Created:  time.Unix(0, 0).UTC(),
		Config: v1.Config{
			Entrypoint: []string{agentPath},
			Env:        []string{"PATH=" + p.in(p.Bin) + ":/usr/bin:/bin"},
			// Numbers, so that a node sees that it is not root.
			User:   fmt.Sprintf("%d:%d", userID, userID),
			Labels: map[string]string{"org.opencontainers.image.title": "postgres-member", "org.opencontainers.image.version": p.Version},
		},
		Layers: []oci.Layer{
			{Files: system, CreatedBy: "COPY PostgreSQL " + p.Version, Uncompressed: true},
			{Files: map[string]oci.File{agentPath: {Source: agent, Mode: 0o555}}, CreatedBy: "COPY agent " + agentPath, Uncompressed: true},
		},
	}
}
