package release

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASignedImageIsVerified(t *testing.T) {
	for _, file := range []string{"one.tar", "both.tar"} {
		t.Run(file, func(t *testing.T) {
			e := newEnv(t)
			image := e.release(file, e.repository, e.private)
			list, err := readSBOM(build(strings.TrimSuffix(file, ".tar") + ".cdx.json"))
			require.NoError(t, err)
			for _, ref := range []string{image.String(), e.repository.Name() + ":v1.2.3"} {
				assert.Regexp(t, `^verified `+image.String()+`
  signature:  by the key SHA256:[0-9a-f]{64}
  provenance: commit `+one+`, built by `+builderID+`
  SBOM:       `+list.digest.String()+`, \d libraries$`, must(t, "verify", ref, "--key="+e.public, "--revision="+one))
			}
		})
	}
}

func TestToSignAgainChangesNothing(t *testing.T) {
	e := newEnv(t)
	digests := func() (all []v1.Hash) {
		image := e.release("one.tar", e.repository, e.private)
		for _, suffix := range []string{signatureSuffix, provenanceSuffix} {
			found, err := remote.Head(attached(image, suffix))
			require.NoError(t, err)
			all = append(all, found.Digest)
		}
		index, err := remote.Referrers(image)
		require.NoError(t, err)
		manifest, err := index.IndexManifest()
		require.NoError(t, err)
		assert.Len(t, manifest.Manifests, 3, "the SBOM, the provenance, the signature")
		return all
	}
	first := digests()
	assert.Equal(t, first, digests())
}

// TestWhatIsNotVerified has one attack in each case. Each begins with an image that is
// signed. An attacker may push, but does not have the key.
func TestWhatIsNotVerified(t *testing.T) {
	for sentence, tc := range map[string]struct {
		attack func(*env, name.Digest) (ref string, flags []string)
		want   string // with IMAGE, OTHER and LIST for digests, and REPO for the repository
	}{
		"nothing is there": {func(e *env, _ name.Digest) (string, []string) {
			return e.repository.Name() + ":v2", nil
		}, "REPO:v2 is not in the registry"},
		"the tag is another image": {func(e *env, _ name.Digest) (string, []string) {
			must(e.T, "push", build("another.tar"), e.repository.Name())
			return e.repository.Name() + ":v1.2.3", nil
		}, "REPO@OTHER has no signature"},
		"another key has signed": {func(e *env, image name.Digest) (string, []string) {
			private, _ := newKeys(e.T)
			e.release("one.tar", e.repository, private)
			return image.String(), nil
		}, "REPO@IMAGE has a signature, but not by this key"},
		"a signature without its annotation": {func(e *env, image name.Digest) (string, []string) {
			e.attach(image, attachment{mediaType: signatureMediaType, content: []byte("{}")}, attached(image, signatureSuffix).TagStr())
			return image.String(), nil
		}, "REPO@IMAGE has a signature, but not by this key"},
		"a good signature of another image": {func(e *env, image name.Digest) (string, []string) {
			other, err := name.NewDigest(must(e.T, "push", build("another.tar"), e.repository.Name()))
			require.NoError(e, err)
			e.copyTo(attached(image, signatureSuffix), attached(other, signatureSuffix))
			return other.String(), nil
		}, "the signature of REPO@OTHER is for another image, IMAGE"},
		"a good signature in another repository": {func(e *env, image name.Digest) (string, []string) {
			elsewhere := e.repositoryOf("elsewhere")
			copied, err := name.NewDigest(must(e.T, "push", build("one.tar"), elsewhere.Name()))
			require.NoError(e, err)
			e.copyTo(attached(image, signatureSuffix), attached(copied, signatureSuffix))
			return copied.String(), nil
		}, "the signature of REGISTRY/elsewhere@IMAGE is for another repository, REPO"},
		"something else that the key has signed": {func(e *env, image name.Digest) (string, []string) {
			key, err := readPrivate(e.private)
			require.NoError(e, err)
			a, err := newSignature(key, e.repository.Name(), v1.Hash{})
			require.NoError(e, err)
			a.content = bytes.Replace(a.content, []byte(signatureType), []byte("letter"), 1)
			signature, err := signBytes(key, a.content)
			require.NoError(e, err)
			a.annotations[signatureAnnotation] = base64.StdEncoding.EncodeToString(signature)
			e.attach(image, a, attached(image, signatureSuffix).TagStr())
			return image.String(), nil
		}, `the signature of REPO@IMAGE is for something of the type "letter"`},

		"the provenance is gone": {func(e *env, image name.Digest) (string, []string) {
			require.NoError(e, remote.Delete(attached(image, provenanceSuffix)))
			return image.String(), nil
		}, "REPO@IMAGE has no provenance"},
		"another key has signed the provenance": {func(e *env, image name.Digest) (string, []string) {
			private, _ := newKeys(e.T)
			elsewhere := e.repositoryOf("elsewhere")
			e.copyTo(attached(e.release("one.tar", elsewhere, private), provenanceSuffix), attached(image, provenanceSuffix))
			return image.String(), nil
		}, "REPO@IMAGE has a provenance, but it is not signed by this key"},
		"a good provenance of another image": {func(e *env, image name.Digest) (string, []string) {
			other := e.release("another.tar", e.repository, e.private)
			e.copyTo(attached(other, provenanceSuffix), attached(image, provenanceSuffix))
			return image.String(), nil
		}, "the provenance of REPO@IMAGE is for another image"},
		"another statement that the key has signed": {func(e *env, image name.Digest) (string, []string) {
			key, err := readPrivate(e.private)
			require.NoError(e, err)
			s := statement{Type: statementType, PredicateType: "https://example.com/test-result", Subject: []resource{{
				Name: e.repository.Name(), Digest: map[string]string{"sha256": strings.TrimPrefix(image.DigestStr(), "sha256:")},
			}}}
			a, err := newProvenance(key, s)
			require.NoError(e, err)
			e.attach(image, a, attached(image, provenanceSuffix).TagStr())
			return image.String(), nil
		}, `the statement attached to REPO@IMAGE is no provenance: it is of the type "https://example.com/test-result"`},
		"another commit is wanted": {func(_ *env, image name.Digest) (string, []string) {
			return image.String(), []string{"--revision=" + another}
		}, "the provenance of REPO@IMAGE names another commit, " + one},

		"there is no SBOM": {func(e *env, image name.Digest) (string, []string) {
			index, err := remote.Referrers(image, remote.WithFilter("artifactType", sbomMediaType))
			require.NoError(e, err)
			manifest, err := index.IndexManifest()
			require.NoError(e, err)
			require.NoError(e, remote.Delete(e.repository.Digest(manifest.Manifests[0].Digest.String())))
			return image.String(), nil
		}, "REPO@IMAGE has no SBOM"},
		"there is a second SBOM": {func(e *env, image name.Digest) (string, []string) {
			content, err := os.ReadFile(build("one.cdx.json"))
			require.NoError(e, err)
			changed := filepath.Join(e.TempDir(), "changed.cdx.json")
			require.NoError(e, os.WriteFile(changed, append(content, ' '), 0o600))
			must(e.T, "push", build("one.tar"), e.repository.Name(), "--sbom="+changed)
			return image.String(), nil
		}, "REPO@IMAGE has an SBOM that its provenance does not name, sha256:"},
		"one byte of the SBOM is changed in the registry": {func(e *env, image name.Digest) (string, []string) {
			list, err := readSBOM(build("one.cdx.json"))
			require.NoError(e, err)
			list.content[0]++
			require.NoError(e, os.WriteFile(filepath.Join(e.blobs, "sha256", list.digest.Hex), list.content, 0o600))
			return image.String(), nil
		}, "reading the SBOM: "},
		"the registry serves another SBOM under the digest": {func(e *env, image name.Digest) (string, []string) {
			list, err := readSBOM(build("one.cdx.json"))
			require.NoError(e, err)
			changed := bytes.Clone(list.content)
			changed[0]++
			e.changed.Store(list.digest.String(), changed)
			return image.String(), nil
		}, "reading the SBOM: reading LIST: error verifying sha256 checksum"},
		"a name without a registry": {func(*env, name.Digest) (string, []string) {
			return "cnat-manager:v1.2.3", nil
		}, `"cnat-manager:v1.2.3" names no image in a registry; write one such as 127.0.0.1:5050/cnat-manager:v0.6.0`},
	} {
		t.Run(sentence, func(t *testing.T) {
			e := newEnv(t)
			image := e.release("one.tar", e.repository, e.private)
			must(t, "verify", image.String(), "--key="+e.public) // or the case would prove nothing
			ref, flags := tc.attack(e, image)
			code, stdout, stderr := program(t, append([]string{"verify", ref, "--key=" + e.public}, flags...)...)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			want := strings.NewReplacer("REPO", e.repository.Name(), "REGISTRY", e.repository.RegistryStr(),
				"IMAGE", image.DigestStr(), "LIST", sbomDigest(t), "OTHER", digestOf(t, "another.tar")).Replace(tc.want)
			assert.True(t, strings.HasPrefix(stderr, "release: "+want), "%s\nwant: %s", stderr, want)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
}

func sbomDigest(t *testing.T) string {
	t.Helper()
	list, err := readSBOM(build("one.cdx.json"))
	require.NoError(t, err)
	return list.digest.String()
}

// digestOf is the digest of a build.
func digestOf(t *testing.T, file string) string {
	t.Helper()
	a, err := openArchive(build(file), t.TempDir())
	require.NoError(t, err)
	return a.descriptor.Digest.String()
}

func TestARegistryThatDoesNotAnswer(t *testing.T) {
	e := newEnv(t)
	e.server.Close()
	code, _, stderr := program(t, "verify", e.repository.Name()+":v1.2.3", "--key="+e.public)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "release: looking for "+e.repository.Name()+":v1.2.3: ")
	assert.Contains(t, stderr, "connection refused")
}

func TestCtrlCEndsARequest(t *testing.T) {
	_, public := newKeys(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	var stdout, stderr strings.Builder
	code := Main(ctx, []string{"verify", strings.TrimPrefix(server.URL, "http://") + "/cnat-manager:v1", "--key=" + public}, &stdout, &stderr)
	assert.Equal(t, 130, code)
	assert.Equal(t, "release: interrupted; run it again, what is uploaded is kept\n", stderr.String())
}

func TestAnAttachmentThatIsTooLarge(t *testing.T) {
	_, err := readLayer(nil, v1.Descriptor{Size: maxAttachment + 1})
	require.ErrorContains(t, err, "which is too much for what is attached to an image")
}

func TestTheProvenance(t *testing.T) {
	e := newEnv(t)
	image := e.release("one.tar", e.repository, e.private)
	found, err := newRepository(t.Context(), e.repository).read(attached(image, provenanceSuffix))
	require.NoError(t, err)
	require.Len(t, found, 1)
	var signed envelope
	require.NoError(t, json.Unmarshal(found[0].content, &signed))
	var s statement
	decoder := json.NewDecoder(bytes.NewReader(signed.Payload))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&s))

	digest := strings.TrimPrefix(image.DigestStr(), "sha256:")
	assert.Equal(t, []resource{{Name: e.repository.Name(), Digest: map[string]string{"sha256": digest}}}, s.Subject)
	assert.Equal(t, "v1.2.3", s.Predicate.BuildDefinition.ExternalParameters.Version)
	dependencies := map[string]map[string]string{}
	for _, d := range s.Predicate.BuildDefinition.ResolvedDependencies {
		dependencies[d.URI] = d.Digest
	}
	list, err := readSBOM(build("one.cdx.json"))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"gitCommit": one}, dependencies[sourceURI])
	for _, module := range list.modules {
		assert.Equal(t, module.Digest, dependencies[module.URI], module.URI)
	}
	assert.Len(t, dependencies, 1+len(list.modules))
}
