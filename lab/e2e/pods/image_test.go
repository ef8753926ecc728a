package pods

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"io"
	"runtime"
)

// testImage is the image that holds ./testserver, and testDigest its digest.
const testImage = "testserver:v1"

var testDigest v1.Hash

// buildImage compiles ./testserver and packs it as an OCI archive: one static
// program as the only file, as the image of an operator would be.
func buildImage() (archive string, err error) {
	dir, err := os.MkdirTemp("", "lab-image-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "testserver")
	// These flags are those of stage 6's image, so that Go compiles client-go once for both.
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./testserver")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building testserver: %w: %s", err, out)
	}
	image, err := imageOf(program)
	if err != nil {
		return "", err
	}
	if testDigest, err = image.Digest(); err != nil {
		return "", err
	}
	return writeArchive(image, filepath.Join(dir, "layout"))
}

func writeArchive(image v1.Image, scratch string) (string, error) {
	named := v1.Descriptor{Annotations: map[string]string{"io.containerd.image.name": testImage}}
	if _, err := layout.Write(scratch, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image, Descriptor: named})); err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "testserver-*.tar")
	if err != nil {
		return "", err
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	if err := archive.AddFS(os.DirFS(scratch)); err != nil {
		return "", err
	}
	return file.Name(), archive.Close()
}

func imageOf(program string) (v1.Image, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var layerTar bytes.Buffer
	w := tar.NewWriter(&layerTar)
	if err := w.WriteHeader(&tar.Header{Name: "testserver", Mode: 0o755, Size: int64(len(content))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(layerTar.Bytes())), nil
	})
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = runtime.GOOS, runtime.GOARCH
	config.Config.Entrypoint = []string{"/testserver"}
	config.Config.User = "65532"
	return mutate.ConfigFile(image, config)
}
