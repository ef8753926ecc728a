package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// repository is the place of an image in a registry. To a loopback address it speaks HTTP,
// and HTTPS to all others, with the credentials of `docker login`.
type repository struct {
	name.Repository
	options []remote.Option
}

func newRepository(ctx context.Context, repo name.Repository) repository {
	return repository{repo, []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}}
}

// push uploads an image under a tag.
func (r repository) push(a archive, tag string) error {
	return remote.Push(r.Tag(tag), a.content, r.options...)
}

// head returns the descriptor of an image, and false if the registry does not have it.
func (r repository) head(ref name.Reference) (v1.Descriptor, bool, error) {
	found, err := remote.Head(ref, r.options...)
	if isNotFound(err) {
		return v1.Descriptor{}, false, nil
	}
	if err != nil {
		return v1.Descriptor{}, false, err
	}
	return v1.Descriptor{MediaType: found.MediaType, Size: found.Size, Digest: found.Digest}, true, nil
}

// attachment is something that belongs to an image.
type attachment struct {
	kind        types.MediaType // what clients search for
	mediaType   types.MediaType // of its content
	content     []byte
	annotations map[string]string
}

// attach uploads an attachment, as a manifest whose subject is the image. That is how
// clients of OCI 1.1 find it; cosign finds it by the tag.
func (r repository) attach(subject v1.Descriptor, a attachment, tag string) error {
	layer, err := r.upload(a.content, a.mediaType)
	if err != nil {
		return err
	}
	layer.Annotations = a.annotations
	// The type stands twice, because registries take one or the other.
	config, err := r.upload([]byte("{}"), a.kind)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2,
		MediaType:     types.OCIManifestSchema1,
		ArtifactType:  string(a.kind),
		Config:        config,
		Layers:        []v1.Descriptor{layer},
		Subject:       &subject,
	})
	if err != nil {
		return err
	}
	ref := name.Reference(r.Tag(tag))
	if tag == "" {
		digest, _, err := v1.SHA256(strings.NewReader(string(raw)))
		if err != nil {
			return err
		}
		ref = r.Digest(digest.String())
	}
	return remote.Put(ref, manifest(raw), r.options...)
}

func (r repository) upload(content []byte, mediaType types.MediaType) (v1.Descriptor, error) {
	layer := static.NewLayer(content, mediaType)
	digest, err := layer.Digest()
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: mediaType, Size: int64(len(content)), Digest: digest}, remote.WriteLayer(r.Repository, layer, r.options...)
}

// manifest is one in the form that remote.Put takes.
type manifest []byte

func (m manifest) RawManifest() ([]byte, error)      { return m, nil }
func (manifest) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// tagged returns what is attached to an image under the tag of cosign with this suffix.
func (r repository) tagged(digest v1.Hash, suffix string) ([]attachment, error) {
	return r.read(r.Tag(cosignTag(digest, suffix)))
}

// referrers returns what is attached to an image, of one kind.
func (r repository) referrers(digest v1.Hash, kind types.MediaType) ([]attachment, error) {
	index, err := remote.Referrers(r.Digest(digest.String()), append(r.options, remote.WithFilter("artifactType", string(kind)))...)
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var all []attachment
	for _, found := range manifest.Manifests {
		some, err := r.read(r.Digest(found.Digest.String()))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// read returns the layers of a manifest, and none if it is not there.
func (r repository) read(ref name.Reference) ([]attachment, error) {
	image, err := remote.Image(ref, r.options...)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return nil, err
	}
	var all []attachment
	for _, layer := range manifest.Layers {
		content, err := readLayer(image, layer)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", layer.Digest, err)
		}
		all = append(all, attachment{mediaType: layer.MediaType, content: content, annotations: layer.Annotations})
	}
	return all, nil
}

// maxAttachment is more than any SBOM has, and less than fills a machine's memory.
const maxAttachment = 64 << 20

// readLayer reads a layer. The reader compares it with its digest.
func readLayer(image v1.Image, d v1.Descriptor) ([]byte, error) {
	if d.Size > maxAttachment {
		return nil, fmt.Errorf("it has %d bytes, which is too much for what is attached to an image", d.Size)
	}
	layer, err := image.LayerByDigest(d.Digest)
	if err != nil {
		return nil, err
	}
	content, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(content)
}

// cosignTag is where cosign keeps what belongs to an image.
func cosignTag(digest v1.Hash, suffix string) string {
	return digest.Algorithm + "-" + digest.Hex + "." + suffix
}

func isNotFound(err error) bool {
	refused, ok := errors.AsType[*transport.Error](err)
	return ok && refused.StatusCode == http.StatusNotFound
}
