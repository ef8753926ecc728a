// Package image is the lab's image store. It knows two kinds of images: a few
// that are built in and have no files of their own (busybox stands for the
// host's own commands, kube-scheduler for this very program), and those that
// `lab load` unpacked from an archive. It never talks to a registry.
package image

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/component-base/version"
)

// Image is one image of the store. What of it is JSON is in the file beside the files of a loaded one.
type Image struct {
	// ID is how the kubelet refers to the image once it has found it.
	ID string
	// Names are the references that the image was loaded under.
	Names []string
	// Digests are those of its manifests, by which a registry would have it. A docker
	// archive has no manifest, and so none.
	Digests []string
	// Size of its files in bytes, never 0: the kubelet refuses an image without.
	Size uint64
	// Config is what the image says about the containers made of it.
	Config v1.Config

	// Builtin images have no files: their containers see the host's.
	Builtin bool `json:"-"`
	// Pause is the image whose container only waits.
	Pause bool `json:"-"`
	// Program is what this program does for the container when it is called by this name:
	// kube-scheduler. Empty for most images.
	Program string `json:"-"`

	dir string
}

// builtins by the last part of their repository's path. Whatever the registry
// and the tag: a learner's manifest shall work unchanged. Only what is a part of
// Kubernetes has one tag, its version.
//
// To add one, describe here what its containers run by default.
var builtins = map[string]Image{
	"busybox":                 {ID: "builtin/busybox", Names: []string{"busybox"}, Size: 1, Builtin: true, Config: v1.Config{Cmd: []string{"sh"}}},
	"pause":                   {ID: "builtin/pause", Names: []string{"pause"}, Size: 1, Builtin: true, Pause: true},
	"kube-scheduler":          ofKubernetes("kube-scheduler"),
	"kube-controller-manager": ofKubernetes("kube-controller-manager"),
}

func ofKubernetes(program string) Image {
	return Image{
		ID: "builtin/" + program, Names: []string{OfKubernetes(program)}, Size: 1, Builtin: true,
		Program: program, Config: v1.Config{Entrypoint: []string{program}},
	}
}

// OfKubernetes is the name of a built-in image: that program, in the version that the lab is of.
func OfKubernetes(program string) string {
	return program + ":" + strings.ReplaceAll(version.Get().GitVersion, "+", "-") // no tag has a +
}

// builtin finds a built-in image by reference or ID.
func builtin(ref string) (Image, bool) {
	repository, _, _ := strings.Cut(ref, "@")
	base, tag, _ := strings.Cut(path.Base(repository), ":")
	image, ok := builtins[base]
	if ok && image.Program != "" && ref != image.ID && base+":"+tag != image.Names[0] {
		return Image{}, false
	}
	return image, ok
}

// is reports whether a reference is one of the image. A name is compared in full, so
// that busybox and busybox:latest are one. A digest is enough by itself: whatever the
// repository before it, it is this image and no other.
func (i Image) is(ref name.Reference) bool {
	if digest, ok := ref.(name.Digest); ok {
		return slices.Contains(i.Digests, digest.DigestStr())
	}
	return slices.ContainsFunc(i.Names, func(n string) bool {
		have, err := name.ParseReference(n)
		return err == nil && have.Name() == ref.Name()
	})
}

// RepoDigests are the names of the image with its digests in place of the tags.
func (i Image) RepoDigests() []string {
	var all []string
	for _, n := range i.Names {
		ref, err := reference.ParseNormalizedNamed(n)
		if err != nil {
			continue
		}
		for _, digest := range i.Digests {
			if repo := ref.Name() + "@" + digest; !slices.Contains(all, repo) {
				all = append(all, repo)
			}
		}
	}
	return all
}

// Reference is what the status of a pod shows: which image it is, wherever it runs.
func (i Image) Reference() string {
	if all := i.RepoDigests(); len(all) > 0 {
		return all[0]
	}
	return i.ID
}

// User returns who the image wants its containers to run as. The name is empty
// when the image gives a number, and the number is root's when it says nothing.
func (i Image) User() (uid int64, username string) {
	user, _, _ := strings.Cut(i.Config.User, ":")
	if user == "" {
		return 0, ""
	}
	uid, err := strconv.ParseInt(user, 10, 64)
	if err != nil {
		return 0, user
	}
	return uid, ""
}

// Account looks a user of the image up, by name or number, in its own list of
// accounts.
func (i Image) Account(user string) (uid, gid uint32, err error) {
	number, parseErr := strconv.ParseUint(user, 10, 32)
	data, err := i.passwd()
	if err != nil && parseErr != nil {
		return 0, 0, fmt.Errorf("looking up user %q in the image (use runAsUser with a number): %w", user, err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 4 || fields[0] != user && fields[2] != user {
			continue
		}
		u, uErr := strconv.ParseUint(fields[2], 10, 32)
		g, gErr := strconv.ParseUint(fields[3], 10, 32)
		if uErr == nil && gErr == nil {
			return uint32(u), uint32(g), nil
		}
	}
	if parseErr != nil {
		return 0, 0, fmt.Errorf("the image has no user %q (use runAsUser with a number)", user)
	}
	return uint32(number), 0, nil
}

// maxPasswd is more than the accounts of any image need.
const maxPasswd = 1 << 20

// passwd is the list of accounts. An image is read here before anything of it runs: a
// link leads nowhere outside of it, and what has no end is not read to it.
func (i Image) passwd() ([]byte, error) {
	if i.Builtin {
		return os.ReadFile("/etc/passwd")
	}
	root, err := os.OpenRoot(filepath.Join(i.dir, rootfsDir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile("etc/passwd", os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer is empty
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPasswd+1))
	if err == nil && len(data) > maxPasswd {
		err = fmt.Errorf("its etc/passwd is longer than %d bytes", maxPasswd)
	}
	return data, err
}
