package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
)

// needed is what compiling all of the lab adds to Go's build cache, with room
// for the linker.
const needed = 4 << 30

// lowDisk warns of a disk that may not hold a first build. It returns nothing
// when there is no cause, or when the free space is not known.
func lowDisk(free uint64) string {
	if free == 0 || free >= needed {
		return ""
	}
	return fmt.Sprintf("warning: %.1f GB are free where Go keeps its build cache (go env GOCACHE), the first build needs about %.0f GB", float64(free)/(1<<30), float64(needed)/(1<<30))
}

// neededToLink is what the linker writes to the folder for temporary files, with room for a
// second build.
const neededToLink = 600 << 20

// fullTemporary is the error that linking would end with, after minutes of compiling.
func fullTemporary(folder string, free uint64) error {
	if free == 0 || free >= neededToLink {
		return nil
	}
	return fmt.Errorf("%d MB are free for temporary files in %s, linking needs %d; make room, or export TMPDIR=/var/tmp", free>>20, folder, neededToLink>>20)
}

// temporary is the folder that Go builds in.
func temporary(ctx context.Context) string {
	folder, err := goOutput(ctx, "env", "GOTMPDIR")
	if err != nil || folder == "" {
		return os.TempDir()
	}
	return folder
}

// freeForCache is how many bytes are free for Go's build cache, 0 if not known.
func freeForCache(ctx context.Context) uint64 {
	cache, err := goOutput(ctx, "env", "GOCACHE")
	if err != nil {
		return 0
	}
	return freeDisk(cache)
}

// freeDisk is how many bytes are free in a folder, 0 if not known.
func freeDisk(folder string) uint64 {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0
	}
	return stat.Bavail * uint64(stat.Bsize)
}
