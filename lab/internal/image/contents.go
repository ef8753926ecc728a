package image

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// errNoName is for archives that do not say what the image is called.
var errNoName = errors.New("the archive does not name its image (save it by its name, not by its ID: docker save -o IMAGE.tar NAME:TAG)")

const machine = runtime.GOOS + "/" + runtime.GOARCH

// choose decides what of an archive is loaded: each image that runs here and has a name, under
// all of its names. It returns a sentence for each that is left out beside those.
func choose(entries []entry) (images []entry, leftOut []string, err error) {
	var given []string
	for _, e := range entries {
		if e.image == nil {
			continue
		}
		names := e.names
		e.names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			_, err := name.NewTag(n)
			return err != nil || slices.Contains(given, n)
		})
		if len(e.names) > 0 {
			given, images = append(given, e.names...), append(images, e)
			continue
		}
		reason := e.whyNameless()
		if i := slices.IndexFunc(names, func(n string) bool { return slices.Contains(given, n) }); i >= 0 {
			reason = fmt.Errorf("the archive has two images that are called %s (the first one is loaded)", names[i])
		}
		err = cmp.Or(err, reason)
		leftOut = append(leftOut, "an image is left out: "+reason.Error())
	}
	if len(images) == 0 {
		return nil, nil, cmp.Or(err, noneRunsHere(entries))
	}
	for _, e := range entries {
		for _, n := range e.names {
			if e.image == nil && !slices.Contains(given, n) {
				leftOut = append(leftOut, fmt.Sprintf("%s is left out: it is for %s, but this machine is %s", n, e.others(), machine))
			}
		}
	}
	return images, leftOut, nil
}

func (e entry) whyNameless() error {
	if len(e.tags) > 0 {
		return fmt.Errorf("the archive names its image by nothing but a tag, %q (save it by its full name: NAME:%[1]s)", e.tags[0])
	}
	return errNoName
}

func noneRunsHere(entries []entry) error {
	var all entry
	for _, e := range entries {
		all.platforms = append(all.platforms, e.platforms...)
	}
	return fmt.Errorf("the archive has no image for %s, which this machine is; it has %s (build or save it for this platform)", machine, all.others())
}

func (e entry) others() string {
	slices.Sort(e.platforms)
	return cmp.Or(strings.Join(slices.Compact(e.platforms), ", "), "none at all")
}
