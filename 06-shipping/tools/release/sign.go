package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// built is what a build has left: the archive and the SBOM beside it.
type built struct {
	archive archive
	sbom    sbom
}

// readBuilt reads both, and calls use while the archive is unpacked.
func readBuilt(archivePath, sbomPath string, use func(built) error) error {
	scratch, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	a, err := openArchive(archivePath, scratch)
	if err != nil {
		return err
	}
	if sbomPath == "" {
		sbomPath = strings.TrimSuffix(archivePath, ".tar") + ".cdx.json"
	}
	s, err := readSBOM(sbomPath)
	if err != nil {
		return err
	}
	return use(built{a, s})
}

// push uploads an image under the tag of its version, attaches its SBOM, and returns its
// reference by digest. It signs nothing.
func push(ctx context.Context, repo name.Repository, b built) (name.Digest, error) {
	r := newRepository(ctx, repo)
	if err := r.push(b.archive, b.archive.version); err != nil {
		return name.Digest{}, fmt.Errorf("pushing the image: %w", err)
	}
	list := attachment{kind: sbomMediaType, mediaType: sbomMediaType, content: b.sbom.content}
	if err := r.attach(b.archive.descriptor, list, ""); err != nil {
		return name.Digest{}, fmt.Errorf("attaching the SBOM: %w", err)
	}
	return repo.Digest(b.archive.descriptor.Digest.String()), nil
}

// sign signs an image and its provenance, and attaches both. The digests come from the
// build and never from the registry, which may have been given something else. A
// signature that the image has already is replaced; cosign would add one.
func sign(ctx context.Context, repo name.Repository, b built, keyPath string) (name.Digest, error) {
	key, err := readPrivate(keyPath)
	if err != nil {
		return name.Digest{}, err
	}
	image := repo.Digest(b.archive.descriptor.Digest.String())
	switch {
	case strings.HasSuffix(b.archive.revision, "-dirty"):
		return image, fmt.Errorf("the image was built from changes that are in no commit (%s); commit them, and build it again", b.archive.revision)
	case !b.sbom.isOf(b.archive.descriptor.Digest):
		return image, errors.New("the SBOM is of another image than the archive; build both again")
	}
	r := newRepository(ctx, repo)
	if _, ok, err := r.head(image); err != nil {
		return image, fmt.Errorf("looking for %s: %w", image, err)
	} else if !ok {
		return image, fmt.Errorf("%s is not in the registry; push it first", image)
	}
	provenance, err := newProvenance(key, newStatement(repo.Name(), b.archive, b.sbom))
	if err != nil {
		return image, fmt.Errorf("signing the provenance: %w", err)
	}
	signature, err := newSignature(key, repo.Name(), b.archive.descriptor.Digest)
	if err != nil {
		return image, fmt.Errorf("signing the image: %w", err)
	}
	for suffix, a := range map[string]attachment{provenanceSuffix: provenance, signatureSuffix: signature} {
		if err := r.attach(b.archive.descriptor, a, cosignTag(b.archive.descriptor.Digest, suffix)); err != nil {
			return image, fmt.Errorf("attaching %s: %w", a.kind, err)
		}
	}
	return image, nil
}
