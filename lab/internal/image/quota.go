package image

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// DefaultLimit is how much an archive, and then the images in it, may unpack to. A few megabytes
	// can be made that unpack to terabytes.
	DefaultLimit = 16 << 30
	// maxFiles is how many files may be in either. Empty ones take no bytes.
	maxFiles = 1_000_000
	// maxJSON is the size of a manifest, an index or a configuration, which are read into memory.
	maxJSON = 16 << 20
)

// quota is what may still be unpacked.
type quota struct {
	bytes, files int64
	tooLarge     refusal // what the limit was, and whose
}

// refusal is an error that says all about why an archive isn't unpacked.
type refusal string

func (r refusal) Error() string { return string(r) }

// quota allows as much as the limit of the store, and leaves the others on the disk a tenth of
// what is free.
func (s *Store) quota() *quota {
	q := &quota{bytes: s.Limit, files: maxFiles}
	q.tooLarge = refusal(fmt.Sprintf("it unpacks to more than %s (to allow more: lab load --limit=%s)", size(s.Limit), size(2*s.Limit)))
	var disk unix.Statfs_t
	if err := unix.Statfs(s.dir, &disk); err != nil {
		return q
	}
	if room := min(disk.Bavail*uint64(disk.Bsize)/10*9, math.MaxInt64); int64(room) < q.bytes {
		q.bytes = int64(room)
		q.tooLarge = refusal(fmt.Sprintf("it unpacks to more than %s, nine tenths of what is free on the disk of %s (free some space)", size(q.bytes), s.dir))
	}
	return q
}

func size(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }

// take takes a file of that size.
func (q *quota) take(bytes int64) error {
	if q.files--; q.files < 0 {
		return refusal(fmt.Sprintf("it has more than %d files", maxFiles))
	}
	if q.bytes -= bytes; q.bytes < 0 {
		return q.tooLarge
	}
	return nil
}

// checkBlob refuses a file of an OCI layout that is too long to be read into memory.
func checkBlob(dir string, digest v1.Hash) error {
	return checkJSON(dir, "blobs/"+digest.Algorithm+"/"+digest.Hex)
}

func checkJSON(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // who reads it next says what is missing
		return err
	}
	if err == nil && info.Size() > maxJSON {
		return fmt.Errorf("%s of the archive is no description of an image: it is longer than %s", name, size(maxJSON))
	}
	return nil
}
