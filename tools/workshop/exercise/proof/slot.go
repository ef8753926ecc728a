package proof

import (
	"context"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A slot is a clone in which exercises are proved, one after the other. It lies at the
// same path from run to run, and its files have the same times: Go's caches know a package
// by its folder, and a file that a test reads by its size and time.
type slot struct {
	repository.Repository
	repository.Slot
}

func takeSlot(dir string) (*slot, error) {
	free, err := repository.TakeSlot(dir)
	return &slot{repository.Repository{Root: free.Dir}, free}, err
}

// fill makes the slot a copy of a repository, whatever an earlier run has left there,
// with the programs of a lab if that is built.
func (s *slot) fill(ctx context.Context, from, lab repository.Repository) error {
	if _, err := from.Renew(ctx, s.Root); err != nil {
		return err
	}
	if _, err := os.Stat(lab.Path("lab", "bin")); err == nil {
		if err := lab.GiveLab(s.Repository); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// apply applies a patch.
func (s *slot) apply(ctx context.Context, patch string) error {
	if _, err := s.Git(ctx, "apply", "--index", patch); err != nil {
		return err
	}
	return s.settle(ctx)
}

// restore takes back what a patch did, and what tests have left.
func (s *slot) restore(ctx context.Context) error {
	if _, err := s.Git(ctx, "reset", "--quiet", "--hard"); err != nil {
		return err
	}
	if _, err := s.Git(ctx, "clean", "--quiet", "--force", "-d", "-x", "--exclude=/lab/bin/"); err != nil {
		return err
	}
	return s.settle(ctx)
}

// settle gives each file the time that belongs to its content, and each folder the same
// one: what is in it the go command sees by itself.
func (s *slot) settle(ctx context.Context) error {
	files, err := s.Git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for file := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		entry, name, _ := strings.Cut(file, "\t") // such as 100644 HASH 0
		const symbolicLink = "120000"
		if mode, rest, _ := strings.Cut(entry, " "); mode != symbolicLink {
			if err := setTime(s.Path(name), timeOf(rest)); err != nil {
				return err
			}
		}
		for folder := path.Dir(name); !folders[folder]; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	for folder := range folders {
		if err := setTime(s.Path(folder), epoch); err != nil {
			return err
		}
	}
	// Git has to know that the files are those that it wrote.
	_, err = s.Git(ctx, "update-index", "-q", "--refresh")
	return err
}

func setTime(file string, t time.Time) error {
	if err := os.Chtimes(file, t, t); err != nil {
		return fmt.Errorf("setting the time of a file: %w", err)
	}
	return nil
}

// epoch is long ago, because Go's cache has no trust in files of the last seconds.
var epoch = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// timeOf makes a time of a hash: 56 bits of it are nanoseconds of two years.
func timeOf(hash string) time.Time {
	nanoseconds, err := strconv.ParseInt(hash[:14], 16, 64)
	if err != nil {
		panic("git ls-files says no hash: " + hash)
	}
	return epoch.Add(time.Duration(nanoseconds))
}
