// Package release pushes an image with its SBOM to a registry, signs it, and verifies what
// somebody else has signed. The formats are those of cosign, which verifies what this
// package signs, and of OCI 1.1, by which any client of a registry finds what belongs to an
// image:
//
//   - keys.go: a key pair, ECDSA on the curve P-256;
//   - archive.go: the image that the program image has made;
//   - repository.go: what is pushed to a registry, and read from it;
//   - signature.go: the signature of an image, which names its digest;
//   - provenance.go: from what the image was built, as a signed statement;
//   - sign.go and verify.go: all of that, made and verified.
//
// Nothing here depends on the hour or on chance, apart from the keys: to sign an image
// again with the same key gives the same signature.
//
// Two things of cosign are not here. It can sign without a key that somebody has to keep,
// by the identity of a user or of a CI job, and it can write each signature to a public
// log, Rekor. Both need servers that a laptop without a network does not reach.
package release
