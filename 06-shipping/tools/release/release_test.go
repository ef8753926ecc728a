// Package release tests ../../release.sh: what it signs is verified, and nothing that an attacker pushes is.
package release

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	commit  = "1111111111111111111111111111111111111111"
	another = "2222222222222222222222222222222222222222"
	bom     = `{"bomFormat":"CycloneDX"}`
)

// env is a registry with an image, and a key pair.
type env struct {
	*testing.T
	image           name.Digest
	commit          string   // of which the image is verified to be
	changed         sync.Map // what the registry serves in place of a blob, by digest
	private, public string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{T: t, commit: commit}
	handler := registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content, ok := e.changed.Load(path.Base(r.URL.Path)); ok && r.Method == http.MethodGet {
			_, _ = w.Write(content.([]byte))
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	e.image = e.push(strings.TrimPrefix(server.URL, "http://")+"/cnat-manager", newImage(t))
	e.private, e.public = newKeys(t)
	return e
}

func newImage(t *testing.T) v1.Image {
	t.Helper()
	image, err := random.Image(100, 1)
	require.NoError(t, err)
	return image
}

func (e *env) push(repository string, image v1.Image) name.Digest {
	e.Helper()
	digest, err := image.Digest()
	require.NoError(e, err)
	ref, err := name.NewDigest(repository + "@" + digest.String())
	require.NoError(e, err)
	e.put(ref, image)
	return ref
}

// newKeys makes a key pair as the lesson does.
func newKeys(t *testing.T) (private, public string) {
	t.Helper()
	private, public = filepath.Join(t.TempDir(), "private key.pem"), filepath.Join(t.TempDir(), "cosign.pub")
	for _, args := range [][]string{
		{"genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", private},
		{"pkey", "-in", private, "-pubout", "-out", public},
	} {
		out, err := exec.CommandContext(t.Context(), "openssl", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return private, public
}

// release runs the script, and returns what it prints and what it complains of.
func release(t *testing.T, args ...string) (stdout, complaint string) {
	t.Helper()
	_ = os.Getenv("TEST_INPUTS") // the script is in another module: see tools/cmd/inputs
	require.NotEmpty(t, os.Getenv("ORAS"), "ORAS is not set: run `make test-heavy` at the root of the repository, which builds oras as %s names it", "../../../tools/pinned/oras")
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "sh", append([]string{"../../release.sh"}, args...)...)
	command.Stderr = &stderr
	out, err := command.Output()
	assert.Equal(t, err != nil, stderr.Len() > 0, stderr.String())
	return string(out), stderr.String()
}

// sign signs an image, with an SBOM of this content.
func (e *env) sign(image name.Digest, private, list string) {
	e.Helper()
	file := filepath.Join(e.TempDir(), "a list.cdx.json")
	require.NoError(e, os.WriteFile(file, []byte(list), 0o600))
	stdout, complaint := release(e.T, "sign", image.String(), commit, private, file)
	require.Equal(e, "signed "+image.String()+"\n", stdout, complaint)
}

func attached(image name.Digest, suffix string) name.Tag {
	return image.Tag(strings.Replace(image.DigestStr(), ":", "-", 1) + "." + suffix)
}

func (e *env) get(ref name.Reference) v1.Image {
	e.Helper()
	image, err := remote.Image(ref)
	require.NoError(e, err)
	return image
}

func (e *env) put(ref name.Reference, image v1.Image) {
	e.Helper()
	require.NoError(e, remote.Write(ref, image))
}

func (e *env) delete(ref name.Reference) {
	e.Helper()
	require.NoError(e, remote.Delete(ref))
}

// referrers are what the registry has about the image.
func (e *env) referrers(options ...remote.Option) []v1.Descriptor {
	e.Helper()
	index, err := remote.Referrers(e.image, options...)
	require.NoError(e, err)
	manifest, err := index.IndexManifest()
	require.NoError(e, err)
	return manifest.Manifests
}

// refuses wants the script to print nothing but this complaint, in one line.
func refuses(t *testing.T, want string, args ...string) {
	t.Helper()
	stdout, complaint := release(t, args...)
	assert.Empty(t, stdout)
	assert.True(t, strings.HasPrefix(complaint, "release.sh: "), complaint)
	assert.Contains(t, complaint, want)
	assert.Equal(t, 1, strings.Count(complaint, "\n"), complaint)
}

func TestASignedImageIsVerified(t *testing.T) {
	e := newEnv(t)
	e.sign(e.image, e.private, bom)
	stdout, complaint := release(t, "verify", e.image.String(), commit, e.public)
	assert.Equal(t, "verified "+e.image.String()+", built from "+commit+", with the SBOM 2e01b8740d2b1c7ff47487ab94ff0f7f4d2853f3d985cd6d7e381c4aa5ef9afa\n", stdout, complaint)

	var kinds []string
	for _, found := range e.referrers() {
		kinds = append(kinds, found.ArtifactType)
	}
	assert.ElementsMatch(t, []string{
		"application/vnd.cyclonedx+json", "application/vnd.dev.cosign.artifact.att.v1+json", "application/vnd.dev.cosign.artifact.sig.v1+json",
	}, kinds)

	e.sign(e.image, e.private, bom) // once more
	stdout, complaint = release(t, "verify", e.image.String(), commit, e.public)
	assert.Contains(t, stdout, "verified ", complaint)
}

// TestTheSignatureHasTheFormOfCosign: testdata has a signature that cosign 2.6.5 has made, with a key of its own, and
// its payload and manifest. What cosign verifies with a key is the same in ours: the payload, but for the image's name,
// the type of the layer, and its annotation, which is a signature of the payload's SHA-256.
func TestTheSignatureHasTheFormOfCosign(t *testing.T) {
	e := newEnv(t)
	e.sign(e.image, e.private, bom)
	signature := e.get(attached(e.image, "sig"))
	ours, err := signature.Manifest()
	require.NoError(t, err)
	layers, err := signature.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	content, err := layers[0].Compressed()
	require.NoError(t, err)
	defer content.Close()
	payload, err := io.ReadAll(content)
	require.NoError(t, err)

	raw, err := os.ReadFile("testdata/cosign/manifest.json")
	require.NoError(t, err)
	var theirs v1.Manifest
	require.NoError(t, json.Unmarshal(raw, &theirs))
	theirPayload, err := os.ReadFile("testdata/cosign/payload.json")
	require.NoError(t, err)
	assert.Equal(t, strings.NewReplacer("127.0.0.1:37053/second", e.image.Context().Name(),
		"sha256:898d6b1062a7a8b429e1c374c055b35891f18f6336293aadb329e57a8604b0e9", e.image.DigestStr()).Replace(string(theirPayload)), string(payload))
	assert.Equal(t, theirs.MediaType, ours.MediaType)
	assert.Equal(t, theirs.Layers[0].MediaType, ours.Layers[0].MediaType)
	verifies(t, "testdata/cosign/cosign.pub", theirPayload, theirs.Layers[0].Annotations)
	verifies(t, e.public, payload, ours.Layers[0].Annotations)
}

// verifies wants the signature in the annotations to be one of the payload.
func verifies(t *testing.T, public string, payload []byte, annotations map[string]string) {
	t.Helper()
	text, err := os.ReadFile(public)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	signature, err := base64.StdEncoding.DecodeString(annotations["dev.cosignproject.cosign/signature"])
	require.NoError(t, err)
	sum := sha256.Sum256(payload)
	assert.True(t, ecdsa.VerifyASN1(key.(*ecdsa.PublicKey), sum[:], signature), "%s: %v", public, annotations)
}

// TestWhatIsNotVerified has one attack in each case. Each begins with an image that is signed, as that of
// TestASignedImageIsVerified. An attacker may push, but does not have the key.
func TestWhatIsNotVerified(t *testing.T) {
	for sentence, tc := range map[string]struct {
		attack func(e *env)
		want   string
	}{
		"another image, without a signature": {func(e *env) {
			e.image = e.push(e.image.Context().Name(), newImage(e.T))
		}, " has no signature: "},
		"another key has signed": {func(e *env) {
			private, _ := newKeys(e.T)
			e.sign(e.image, private, bom)
		}, " has a signature, but not one of this image by this key\n"},
		"a good signature of another image": {func(e *env) {
			other := e.push(e.image.Context().Name(), newImage(e.T))
			e.put(attached(other, "sig"), e.get(attached(e.image, "sig")))
			e.image = other
		}, " has a signature, but not one of this image by this key\n"},
		"a good signature in another repository": {func(e *env) {
			copied := e.push(e.image.Context().RegistryStr()+"/elsewhere", e.get(e.image))
			e.put(attached(copied, "sig"), e.get(attached(e.image, "sig")))
			e.image = copied
		}, " has a signature, but not one of this image by this key\n"},
		"the provenance is gone": {func(e *env) {
			e.delete(attached(e.image, "att"))
		}, " has no provenance: "},
		"a good provenance of another image": {func(e *env) {
			other := e.push(e.image.Context().Name(), newImage(e.T))
			e.sign(other, e.private, bom)
			e.put(attached(e.image, "att"), e.get(attached(other, "att")))
		}, " has no provenance by this key that names the commit " + commit},
		"another commit is wanted": {func(e *env) {
			e.commit = another
		}, " has no provenance by this key that names the commit " + another},
		"there is no SBOM": {func(e *env) {
			found := e.referrers(remote.WithFilter("artifactType", "application/vnd.cyclonedx+json"))
			e.delete(e.image.Context().Digest(found[0].Digest.String()))
		}, " has no SBOM\n"},
		"there is a second SBOM": {func(e *env) {
			signature, provenance := e.get(attached(e.image, "sig")), e.get(attached(e.image, "att"))
			private, _ := newKeys(e.T)
			e.sign(e.image, private, bom+" ")
			e.put(attached(e.image, "sig"), signature)
			e.put(attached(e.image, "att"), provenance)
		}, " has no provenance by this key that names the commit " + commit},
		"the registry serves another SBOM under the digest": {func(e *env) {
			digest, _, err := v1.SHA256(strings.NewReader(bom))
			require.NoError(e, err)
			e.changed.Store(digest.String(), []byte(strings.ToUpper(bom)))
		}, "reading the SBOM of "},
	} {
		t.Run(sentence, func(t *testing.T) {
			e := newEnv(t)
			e.sign(e.image, e.private, bom)
			tc.attack(e)
			refuses(t, tc.want, "verify", e.image.String(), e.commit, e.public)
		})
	}
}

func TestWithoutOras(t *testing.T) {
	t.Setenv("ORAS", "/no/such/oras")
	image := "127.0.0.1:5050/cnat-manager@sha256:" + strings.Repeat("0", 64)
	refuses(t, "there is no program /no/such/oras; build it: go ", "verify", image, commit, "testdata/cosign/cosign.pub")
}

func TestARegistryThatDoesNotAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // which accepts nothing
	require.NoError(t, err)
	defer listener.Close()
	t.Setenv("RELEASE_TIMEOUT", "1")
	image := listener.Addr().String() + "/cnat-manager@sha256:" + strings.Repeat("0", 64)
	refuses(t, image+" has no signature: the registry has not answered for 1 seconds\n", "verify", image, commit, "testdata/cosign/cosign.pub")
}

func TestWrongArguments(t *testing.T) {
	private, public := newKeys(t)
	nowhere := "127.0.0.1:1/cnat-manager@sha256:" + strings.Repeat("0", 64)
	image := "127.0.0.1:5050/cnat-manager@sha256:" + strings.Repeat("0", 64)
	for sentence, tc := range map[string]struct {
		args []string
		want string
	}{
		"without a key":                 {[]string{"sign", image, commit}, "it needs what to do, an image, a commit and a key"},
		"a key that is not there":       {[]string{"sign", image, commit, private + "x"}, "x is no key that can be read\n"},
		"an image by its tag":           {[]string{"verify", "127.0.0.1:5050/cnat-manager:v0.6.0", commit, private}, `"127.0.0.1:5050/cnat-manager:v0.6.0" is no image by digest`},
		"an image of no commit":         {[]string{"sign", image, commit + "-dirty", private}, `-dirty" is no commit; commit your changes, and build the image again`},
		"without an SBOM":               {[]string{"sign", image, commit, private}, "which SBOM? It is the last argument\n"},
		"something that it cannot do":   {[]string{"trust", image, commit, private}, `"trust" is nothing that it does`},
		"signed with the public key":    {[]string{"sign", image, commit, public, public}, "cosign.pub is no private key; it takes one that openssl genpkey has made\n"},
		"verified with the private key": {[]string{"verify", image, commit, private}, "private key.pem is no public key\n"},
		"no registry takes it":          {[]string{"sign", nowhere, commit, private, public}, " is not in the registry, push it first: "},
		"no registry answers":           {[]string{"verify", nowhere, commit, public}, " has no signature: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			refuses(t, tc.want, tc.args...)
		})
	}
}
