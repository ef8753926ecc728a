package release

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// verified is what is known of an image whose signatures are good.
type verified struct {
	image      name.Digest
	provenance provenance
	sbom       v1.Hash
	libraries  int
}

// verify resolves a tag to a digest, and then trusts nothing but the key: the signature
// has to name the digest, the provenance has to name it, too, and the provenance names
// the SBOM. Without a revision, any commit will do.
func verify(ctx context.Context, ref name.Reference, key *ecdsa.PublicKey, revision string) (verified, error) {
	r := newRepository(ctx, ref.Context())
	found, ok, err := r.head(ref)
	if err != nil {
		return verified{}, fmt.Errorf("looking for %s: %w", ref, err)
	}
	if !ok {
		return verified{}, fmt.Errorf("%s is not in the registry", ref)
	}
	digest, repository := found.Digest, r.Name()

	signatures, err := r.tagged(digest, signatureSuffix)
	if err != nil {
		return verified{}, fmt.Errorf("reading the signature: %w", err)
	}
	if err := checkSignature(key, signatures, repository, digest); err != nil {
		return verified{}, err
	}
	attached, err := r.tagged(digest, provenanceSuffix)
	if err != nil {
		return verified{}, fmt.Errorf("reading the provenance: %w", err)
	}
	p, err := readProvenance(key, attached, repository, digest)
	if err != nil {
		return verified{}, err
	}
	if got := p.revision(); revision != "" && got != revision {
		return verified{}, fmt.Errorf("the provenance of %s@%s names another commit, %s", repository, digest, got)
	}
	list, err := verifySBOM(r, digest, p)
	if err != nil {
		return verified{}, err
	}
	return verified{r.Digest(digest.String()), p, list.digest, len(list.modules)}, nil
}

// verifySBOM reads every SBOM that is attached to an image, because a scanner may read
// any of them. Who may push may attach one, so each has to be the one of the build.
func verifySBOM(r repository, digest v1.Hash, p provenance) (sbom, error) {
	attached, err := r.referrers(digest, sbomMediaType)
	if err != nil {
		return sbom{}, fmt.Errorf("reading the SBOM: %w", err)
	}
	if len(attached) == 0 {
		return sbom{}, fmt.Errorf("%s@%s has no SBOM", r.Name(), digest)
	}
	for _, a := range attached {
		got, _, err := v1.SHA256(bytes.NewReader(a.content))
		if err != nil {
			return sbom{}, err
		}
		if !p.namesSBOM(got) {
			return sbom{}, fmt.Errorf("%s@%s has an SBOM that its provenance does not name, %s", r.Name(), digest, got)
		}
	}
	return parseSBOM(attached[0].content)
}
