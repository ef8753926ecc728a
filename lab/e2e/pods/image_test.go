package pods

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"example.com/hacking-a-controller/lab/internal/image/imagetest"
)

// testImage is the image that holds ./testserver, and testDigest its digest.
const testImage = "testserver:v1"

var testDigest v1.Hash

// buildImage compiles ./testserver and packs it as an OCI archive: one static
// program as the only file, as the image of an operator would be.
func buildImage(archive string) error {
	dir, err := os.MkdirTemp("", "lab-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// These flags are those of stage 6's image, so that Go compiles client-go once for both.
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, "testserver"), "./testserver")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building testserver: %w: %s", err, out)
	}
	if err := os.Chmod(filepath.Join(dir, "testserver"), 0o755); err != nil { // whatever the umask is
		return err
	}
	image, err := imagetest.Of(dir, v1.Config{Entrypoint: []string{"/testserver"}, User: "65532"})
	if err != nil {
		return err
	}
	if testDigest, err = image.Digest(); err != nil {
		return err
	}
	return imagetest.WriteOCI(archive, testImage, image)
}
