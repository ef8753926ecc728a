package release

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsNotSigned(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.tar")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	for sentence, tc := range map[string]struct {
		args func(*env) []string
		want string
	}{
		"an image of no commit": {func(e *env) []string {
			return []string{"sign", build("dirty.tar"), e.repository.Name(), "--key=" + e.private}
		}, "the image was built from changes that are in no commit (" + one + "-dirty); commit them, and build it again"},
		"the SBOM of another image": {func(e *env) []string {
			return []string{"sign", build("one.tar"), e.repository.Name(), "--key=" + e.private, "--sbom=" + build("another.cdx.json")}
		}, "the SBOM is of another image than the archive; build both again"},
		"an image that is not in the registry": {func(e *env) []string {
			return []string{"sign", build("one.tar"), e.repository.Name(), "--key=" + e.private}
		}, " is not in the registry; push it first"},
		"without a key": {func(e *env) []string {
			return []string{"sign", build("one.tar"), e.repository.Name()}
		}, `required flag(s) "key" not set`},
		"with the public key": {func(e *env) []string {
			return []string{"sign", build("one.tar"), e.repository.Name(), "--key=" + e.public}
		}, "cosign.pub is no file that begins with -----BEGIN PRIVATE KEY-----; name another with --key"},
		"with a key that is not there": {func(e *env) []string {
			return []string{"sign", build("one.tar"), e.repository.Name(), "--key=" + e.private + "x"}
		}, "private.pemx: no such file or directory; name another with --key"},
		"verified with the private key": {func(e *env) []string {
			return []string{"verify", e.repository.Name() + ":v1.2.3", "--key=" + e.private}
		}, "private.pem is no file that begins with -----BEGIN PUBLIC KEY-----; name another with --key"},
		"an archive that is not there": {func(e *env) []string {
			return []string{"push", text + "x", e.repository.Name()}
		}, "text.tarx: no such file or directory"},
		"an archive that is none": {func(e *env) []string {
			return []string{"push", text, e.repository.Name()}
		}, "unpacking " + text + ": unexpected EOF"},
		"an SBOM that is not there": {func(e *env) []string {
			return []string{"push", build("one.tar"), e.repository.Name(), "--sbom=" + text + "x"}
		}, "text.tarx: no such file or directory; name another with --sbom"},
		"an SBOM that is none": {func(e *env) []string {
			return []string{"push", build("one.tar"), e.repository.Name(), "--sbom=" + text}
		}, "text.tar is no SBOM of an image: "},
		"to a repository without a registry": {func(*env) []string {
			return []string{"push", build("one.tar"), "cnat-manager"}
		}, `"cnat-manager" names no repository in a registry; write one such as 127.0.0.1:5050/cnat-manager`},
		"without a repository": {func(*env) []string {
			return []string{"push", build("one.tar")}
		}, "accepts 2 arg(s), received 1"},
	} {
		t.Run(sentence, func(t *testing.T) {
			code, stdout, stderr := program(t, tc.args(newEnv(t))...)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, tc.want)
		})
	}
}

func TestKeys(t *testing.T) {
	private, public := newKeys(t)
	info, err := os.Stat(private)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	key, err := readPrivate(private)
	require.NoError(t, err)
	own, err := readPublic(public)
	require.NoError(t, err)
	assert.True(t, key.PublicKey.Equal(own))

	code, stdout, stderr := program(t, "keys", filepath.Dir(private))
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Equal(t, "release: "+private+" is there already, and is not replaced; choose another folder\n", stderr)
	again, err := readPrivate(private)
	require.NoError(t, err)
	assert.True(t, key.Equal(again))
}

// TestASignatureOfCosign: testdata has a signature that cosign 2.6.5 has made, with a key
// of its own.
func TestASignatureOfCosign(t *testing.T) {
	const digest, repository = "898d6b1062a7a8b429e1c374c055b35891f18f6336293aadb329e57a8604b0e9", "127.0.0.1:37053/second"
	public, err := readPublic("testdata/cosign/cosign.pub")
	require.NoError(t, err)
	content, err := os.ReadFile("testdata/cosign/payload.json")
	require.NoError(t, err)
	raw, err := os.ReadFile("testdata/cosign/manifest.json")
	require.NoError(t, err)
	var manifest v1.Manifest
	require.NoError(t, json.Unmarshal(raw, &manifest))
	require.Len(t, manifest.Layers, 1)
	theirs := attachment{content: content, annotations: manifest.Layers[0].Annotations}
	hash := v1.Hash{Algorithm: "sha256", Hex: digest}
	require.NoError(t, checkSignature(public, []attachment{theirs}, repository, hash))
	require.NoError(t, checkSignature(public, []attachment{{}, theirs}, repository, hash), "one of several")

	private, _ := newKeys(t)
	key, err := readPrivate(private)
	require.NoError(t, err)
	ours, err := newSignature(key, repository, hash)
	require.NoError(t, err)
	assert.Equal(t, string(content), string(ours.content))
	assert.Equal(t, manifest.Layers[0].MediaType, ours.mediaType)
}

// TestWhatAnEnvelopeSigns is the example of DSSE's specification.
func TestWhatAnEnvelopeSigns(t *testing.T) {
	e := envelope{PayloadType: "http://example.com/HelloWorld", Payload: []byte("hello world")}
	assert.Equal(t, "DSSEv1 29 http://example.com/HelloWorld 11 hello world", string(e.signed()))
}

// TestTheChecksumOfAModule: 47DEQ... is the SHA-256 of nothing, in Go's form and in hex.
func TestTheChecksumOfAModule(t *testing.T) {
	sum := func(value string) map[string]string {
		return dirHash(cyclonedx.Component{Properties: &[]cyclonedx.Property{{Name: "go:sum", Value: value}}})
	}
	assert.Equal(t, map[string]string{"dirHash": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}, sum("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="))
	assert.Nil(t, sum("h2:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="))
	assert.Nil(t, dirHash(cyclonedx.Component{}))
}

func TestAnArchiveStaysInItsFolder(t *testing.T) {
	folder := t.TempDir()
	root, err := os.OpenRoot(folder)
	require.NoError(t, err)
	defer root.Close()
	require.Error(t, writeFile(root, "../outside", nil))
	assert.NoFileExists(t, filepath.Join(folder, "..", "outside"))
}
