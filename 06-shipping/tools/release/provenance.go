package release

import (
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// What cosign calls the parts of a signed statement.
const (
	provenanceSuffix    = "att"
	provenanceKind      = "application/vnd.dev.cosign.artifact.att.v1+json"
	provenanceMediaType = "application/vnd.dsse.envelope.v1+json"
	statementPayload    = "application/vnd.in-toto+json"
	statementType       = "https://in-toto.io/Statement/v1"
	provenanceType      = "https://slsa.dev/provenance/v1"
)

// Names of what builds, and of where the source is. They are addresses by convention;
// nothing has to answer there.
const (
	sourceURI = "git+https://example.com/hacking-a-controller"
	buildType = "https://example.com/hacking-a-controller/06-shipping/tools/image@v1"
	// builderID is the machine of a developer, who has the key. A build service would put its
	// own name here, and keep the key from those who write the code.
	builderID = "https://example.com/hacking-a-controller/builders/workstation"
)

// statement is an in-toto statement: a predicate about a subject, here a provenance about
// an image.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

// provenance is what SLSA wants to know of a build: from what it was made, and by whom.
type provenance struct {
	BuildDefinition struct {
		BuildType            string     `json:"buildType"`
		ExternalParameters   parameters `json:"externalParameters"`
		ResolvedDependencies []resource `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
		Byproducts []resource `json:"byproducts"`
	} `json:"runDetails"`
}

// parameters are the flags of the program image.
type parameters struct {
	Version   string   `json:"version"`
	Platforms []string `json:"platforms"`
}

// resource is something with a digest.
type resource struct {
	Name      string            `json:"name,omitempty"`
	URI       string            `json:"uri,omitempty"`
	MediaType string            `json:"mediaType,omitempty"`
	Digest    map[string]string `json:"digest,omitempty"`
}

// newStatement says from which commit, with which Go and from which modules an image was
// built. The SBOM is a by-product of the build, so its digest is signed, too.
func newStatement(repository string, a archive, s sbom) statement {
	var p provenance
	p.BuildDefinition.BuildType = buildType
	p.BuildDefinition.ExternalParameters = parameters{Version: a.version, Platforms: a.platforms}
	p.BuildDefinition.ResolvedDependencies = append([]resource{{URI: sourceURI, Digest: map[string]string{"gitCommit": a.revision}}}, s.modules...)
	p.RunDetails.Builder.ID = builderID
	p.RunDetails.Byproducts = []resource{{Name: "SBOM", MediaType: sbomMediaType, Digest: digestSet(s.digest)}}
	return statement{
		Type:          statementType,
		Subject:       []resource{{Name: repository, Digest: digestSet(a.descriptor.Digest)}},
		PredicateType: provenanceType,
		Predicate:     p,
	}
}

func digestSet(h v1.Hash) map[string]string { return map[string]string{h.Algorithm: h.Hex} }

// envelope is a DSSE envelope: something, its type, and signatures of both.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// signed is what the signatures of an envelope are of. The lengths keep somebody from
// moving a byte from the type to the payload.
func (e envelope) signed() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
}

// newProvenance signs a statement.
func newProvenance(key *ecdsa.PrivateKey, s statement) (attachment, error) {
	content, err := json.Marshal(s)
	if err != nil {
		return attachment{}, err
	}
	e := envelope{PayloadType: statementPayload, Payload: content}
	sig, err := signBytes(key, e.signed())
	if err != nil {
		return attachment{}, err
	}
	e.Signatures = []signature{{Sig: base64.StdEncoding.EncodeToString(sig)}}
	if content, err = json.Marshal(e); err != nil {
		return attachment{}, err
	}
	return attachment{
		kind: provenanceKind, mediaType: provenanceMediaType, content: content,
		annotations: map[string]string{
			signatureAnnotation: "", // the signature is in the envelope, and cosign wants the annotation
			"predicateType":     provenanceType,
		},
	}, nil
}

// readProvenance returns the provenance of an image that is signed by the key.
func readProvenance(key *ecdsa.PublicKey, attached []attachment, repository string, digest v1.Hash) (provenance, error) {
	if len(attached) == 0 {
		return provenance{}, fmt.Errorf("%s@%s has no provenance", repository, digest)
	}
	err := fmt.Errorf("%s@%s has a provenance, but it is not signed by this key", repository, digest)
	for _, a := range attached {
		s, openErr := open(key, a.content)
		if openErr != nil {
			continue
		}
		if err = checkSubject(s, repository, digest); err == nil {
			return s.Predicate, nil
		}
	}
	return provenance{}, err
}

// open verifies an envelope before it reads what is in it.
func open(key *ecdsa.PublicKey, content []byte) (s statement, err error) {
	var e envelope
	if err := json.Unmarshal(content, &e); err != nil {
		return s, err
	}
	for _, signature := range e.Signatures {
		sig, err := base64.StdEncoding.DecodeString(signature.Sig)
		if err == nil && e.PayloadType == statementPayload && isSignedBy(key, e.signed(), sig) {
			return s, json.Unmarshal(e.Payload, &s)
		}
	}
	return s, errors.New("it is not signed by this key")
}

func checkSubject(s statement, repository string, digest v1.Hash) error {
	if s.Type != statementType || s.PredicateType != provenanceType {
		return fmt.Errorf("the statement attached to %s@%s is no provenance: it is of the type %q", repository, digest, s.PredicateType)
	}
	for _, subject := range s.Subject {
		if subject.Name == repository && subject.Digest[digest.Algorithm] == digest.Hex {
			return nil
		}
	}
	return fmt.Errorf("the provenance of %s@%s is for another image", repository, digest)
}

// revision is the commit that an image was built from.
func (p provenance) revision() string {
	for _, source := range p.BuildDefinition.ResolvedDependencies {
		if commit := source.Digest["gitCommit"]; commit != "" {
			return commit
		}
	}
	return "unknown"
}

// namesSBOM is whether an SBOM came from the same build.
func (p provenance) namesSBOM(digest v1.Hash) bool {
	for _, made := range p.RunDetails.Byproducts {
		if made.MediaType == sbomMediaType && made.Digest[digest.Algorithm] == digest.Hex {
			return true
		}
	}
	return false
}
