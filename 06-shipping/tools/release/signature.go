package release

import (
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// What cosign calls the parts of a signature.
const (
	signatureSuffix     = "sig"
	signatureKind       = "application/vnd.dev.cosign.artifact.sig.v1+json"
	signatureMediaType  = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
	signatureType       = "cosign container image signature"
)

// payload is what is signed: this digest, in this repository. Its format is called
// simple signing.
type payload struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]any `json:"optional"`
}

// newSignature signs a payload. The signature is an annotation of it.
func newSignature(key *ecdsa.PrivateKey, repository string, digest v1.Hash) (attachment, error) {
	var p payload
	p.Critical.Identity.Reference, p.Critical.Image.Digest, p.Critical.Type = repository, digest.String(), signatureType
	content, err := json.Marshal(p)
	if err != nil {
		return attachment{}, err
	}
	signature, err := signBytes(key, content)
	if err != nil {
		return attachment{}, err
	}
	return attachment{
		kind: signatureKind, mediaType: signatureMediaType, content: content,
		annotations: map[string]string{signatureAnnotation: base64.StdEncoding.EncodeToString(signature)},
	}, nil
}

// checkSignature returns nil if one of the signatures is by the key, and names the image.
func checkSignature(key *ecdsa.PublicKey, signatures []attachment, repository string, digest v1.Hash) error {
	if len(signatures) == 0 {
		return fmt.Errorf("%s@%s has no signature", repository, digest)
	}
	err := fmt.Errorf("%s@%s has a signature, but not by this key", repository, digest)
	for _, s := range signatures {
		signature, decodeErr := base64.StdEncoding.DecodeString(s.annotations[signatureAnnotation])
		if decodeErr != nil || !isSignedBy(key, s.content, signature) {
			continue
		}
		if err = checkPayload(s.content, repository, digest); err == nil {
			return nil
		}
	}
	return err
}

// checkPayload compares what was signed with the image that has the signature: anybody
// who may push can attach a good signature to another image.
func checkPayload(content []byte, repository string, digest v1.Hash) error {
	var p payload
	if err := json.Unmarshal(content, &p); err != nil {
		return fmt.Errorf("the signature of %s@%s is for something that is no image: %w", repository, digest, err)
	}
	signed := p.Critical
	switch {
	case signed.Type != signatureType:
		return fmt.Errorf("the signature of %s@%s is for something of the type %q", repository, digest, signed.Type)
	case signed.Image.Digest != digest.String():
		return fmt.Errorf("the signature of %s@%s is for another image, %s", repository, digest, signed.Image.Digest)
	case signed.Identity.Reference != repository:
		return fmt.Errorf("the signature of %s@%s is for another repository, %s", repository, digest, signed.Identity.Reference)
	}
	return nil
}
