package runtime

import (
	"context"
	"errors"
	"time"

	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/image"
)

// imageService implements the CRI's ImageManagerService.
type imageService struct {
	store *image.Store
}

var _ internalapi.ImageManagerService = imageService{}

// PullImage pulls nothing: it finds the image, or says how to get it here. The
// kubelet shows that as the reason of ErrImagePull.
func (s imageService) PullImage(_ context.Context, spec *runtimeapi.ImageSpec, _ *runtimeapi.AuthConfig, _ *runtimeapi.PodSandboxConfig) (string, error) {
	img, err := s.store.Find(spec.GetImage())
	if err != nil {
		return "", err
	}
	return img.ID, nil
}

// ImageStatus returns no image, and no error, for one that is not there.
func (s imageService) ImageStatus(_ context.Context, spec *runtimeapi.ImageSpec, _ bool) (*runtimeapi.ImageStatusResponse, error) {
	img, err := s.store.Find(spec.GetImage())
	if unknown := (*image.UnknownError)(nil); errors.As(err, &unknown) {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ImageStatusResponse{Image: toCRI(img)}, nil
}

// ListImages lists what can be run.
func (s imageService) ListImages(_ context.Context, filter *runtimeapi.ImageFilter) ([]*runtimeapi.Image, error) {
	all, err := s.store.List()
	if err != nil {
		return nil, err
	}
	only := ""
	if ref := filter.GetImage().GetImage(); ref != "" {
		img, err := s.store.Find(ref)
		if unknown := (*image.UnknownError)(nil); errors.As(err, &unknown) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		only = img.ID
	}
	var list []*runtimeapi.Image
	for _, img := range all {
		if only == "" || only == img.ID {
			list = append(list, toCRI(img))
		}
	}
	return list, nil
}

func toCRI(img image.Image) *runtimeapi.Image {
	out := &runtimeapi.Image{Id: img.ID, RepoTags: img.Names, RepoDigests: img.RepoDigests(), Size: img.Size, Spec: &runtimeapi.ImageSpec{Image: img.ID}, Pinned: img.Builtin}
	uid, name := img.User()
	if name != "" {
		out.Username = name
	} else {
		out.Uid = &runtimeapi.Int64Value{Value: uid}
	}
	return out
}

// RemoveImage deletes an image; one that is not there is fine.
func (s imageService) RemoveImage(ctx context.Context, spec *runtimeapi.ImageSpec) error {
	return s.store.Remove(ctx, spec.GetImage())
}

// ImageFsInfo tells how much the images take.
func (s imageService) ImageFsInfo(context.Context) (*runtimeapi.ImageFsInfoResponse, error) {
	all, err := s.store.List()
	if err != nil {
		return nil, err
	}
	var used uint64
	for _, img := range all {
		used += img.Size
	}
	usage := []*runtimeapi.FilesystemUsage{{
		Timestamp:  time.Now().UnixNano(),
		FsId:       &runtimeapi.FilesystemIdentifier{Mountpoint: s.store.Dir()},
		UsedBytes:  &runtimeapi.UInt64Value{Value: used},
		InodesUsed: &runtimeapi.UInt64Value{},
	}}
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}

// Close has nothing to close.
func (imageService) Close(context.Context) error { return nil }
